"""Models in several processes: by joblib, spawn, fork, process pools and pre-forked servers.

What the page docs/processes.md recommends is shown here. Programs that fork or that a signal could
end run in processes of their own, each with a time limit.
"""

import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest

from thresher import Categorizer
from thresher.learners import LEARNERS

LARGE = 1 << 20  # bytes from which on joblib maps arrays into memory, where they are read-only
WORDS = [f"w{i}" for i in range(400)]
RARE = [f"rare{i}" for i in range(140_000)]
SMALL = ["wheat corn field", "crude oil barrel", "ship port sea"] * 20
SMALL_LABELS = ["grain", "oil", "sea"] * 20


def large_corpus():
    """Texts of so many words that the arrays of a model exceed 1 MB."""
    generator = np.random.default_rng(0)
    texts, labels = [], []
    for i in range(200):
        label = ("grain", "oil", "sea")[i % 3]
        words = generator.choice(WORDS, 10).tolist() + RARE[700 * i : 700 * (i + 1)]
        texts.append(" ".join([label, *words]))
        labels.append(label)
    return texts, labels


@pytest.fixture(scope="module")
def large():
    """A model with large arrays, texts and their scores."""
    texts, labels = large_corpus()
    model = Categorizer(preset="fast").fit(texts, labels)
    sizes = [tensor.nbytes for tensor in model.learner_.state()[1].values()]
    assert max(sizes) > LARGE
    probes = [" ".join(text.split()[:60]) for text in texts[:60]]
    return model, probes, model.scores(probes)


@pytest.fixture
def large_file(large, tmp_path):
    path = tmp_path / "large.thresher"
    large[0].save(path)
    return path


def run(program, *arguments, seconds=240):
    """Run a program in a process of its own; return its output, or fail with its complaint."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=seconds,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def read_singly(model, texts):
    """Return scores of texts that are given one by one, by the compiled reader in the end."""
    return np.concatenate([model.scores([text]) for text in texts])


# ---- read-only arrays ---------------------------------------------------------------------------


def read_only(model):
    """Return a copy of which all arrays are read-only, as Ray's object store has them."""
    buffers = []
    pickled = pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(pickled, buffers=[bytes(buffer) for buffer in buffers])


LEARNERS_AND_OPTIONS = {
    **{name: {"learner": name} for name in sorted(LEARNERS)},
    "best": {"mode": "multi-label"},
    "fast": {"preset": "fast"},
    "hashed": {"hashing_bits": 12, "ngram_range": (1, 2)},
    "calibrated": {"calibrate": "isotonic"},
    "concepts": {"concepts": 3},
    "pattern": {"token_pattern": r"[a-z]+"},
}


@pytest.mark.slow
@pytest.mark.parametrize("options", LEARNERS_AND_OPTIONS.values(), ids=LEARNERS_AND_OPTIONS)
def test_every_way_of_reading_works_on_read_only_arrays(options, tmp_path):
    model = Categorizer(**options).fit(SMALL, SMALL_LABELS)
    copy, texts = read_only(model), ["wheat on a ship", "oil", "nothing known", ""] * 3
    for _ in range(2):
        np.testing.assert_array_equal(copy.scores(texts), model.scores(texts))
        np.testing.assert_array_equal(read_singly(copy, texts), read_singly(model, texts))
        assert copy.predict(texts) == model.predict(texts)
    assert copy.rank(texts) == model.rank(texts)
    assert str(copy.explain(texts[0])) == str(model.explain(texts[0]))
    assert str(copy.evaluate(SMALL, SMALL_LABELS)) == str(model.evaluate(SMALL, SMALL_LABELS))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(copy.predict_proba(texts), model.predict_proba(texts))
    assert copy.summary() == model.summary()
    for name, reader in {"a": model, "b": copy}.items():
        reader.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["arow", "linear-svm", "naive-bayes", "nearest-neighbors"])
def test_learning_makes_private_copies_of_read_only_arrays(learner, tmp_path):
    model = Categorizer(learner).fit(SMALL, SMALL_LABELS)
    copies = read_only(model), pickle.loads(pickle.dumps(model))
    for number, reader in enumerate((model, *copies)):
        reader.learn(["wheat and maize", "a metal called tin"], ["grain", "metal"])
        reader.tune(SMALL, SMALL_LABELS).rename_category("sea", "water").save(
            tmp_path / str(number)
        )
    contents = [(tmp_path / str(number)).read_bytes() for number in range(3)]
    assert contents[0] == contents[1] == contents[2]


# ---- joblib -------------------------------------------------------------------------------------


def test_joblib_reads_with_its_default_backend(large):
    model, texts, scores = large
    batches = [texts[i : i + 10] for i in range(0, len(texts), 10)]
    parallel = joblib.Parallel(n_jobs=2)  # loky, which maps large arrays read-only
    results = parallel(joblib.delayed(model.scores)(batch) for batch in batches)
    np.testing.assert_array_equal(np.concatenate(results), scores)
    results = parallel(joblib.delayed(read_singly)(model, batch) for batch in batches[:2])
    np.testing.assert_array_equal(np.concatenate(results), scores[:20])


def test_joblib_maps_a_dumped_model(large, tmp_path):
    model, texts, scores = large
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    np.testing.assert_array_equal(mapped.scores(texts), scores)
    np.testing.assert_array_equal(read_singly(mapped, texts[:40]), scores[:40])
    assert mapped.predict(texts) == model.predict(texts)
    mapped.learn(["a metal called tin"], ["metal"])
    assert mapped.predict(["tin metal"]) == ["metal"]
    again = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    np.testing.assert_array_equal(again.scores(texts), scores)  # the file is as it was


# ---- multiprocessing ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_a_pool_of_processes_reads(method, large):
    """The model is sent with the function: its weights go to each process."""
    model, texts, scores = large
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.map_async(model.scores, [texts[:30], texts[30:]]).get(timeout=240)
    np.testing.assert_array_equal(np.concatenate(results), scores)


_model = None  # of a worker


def load_in_worker(path):
    global _model
    _model = Categorizer.load(path, mmap=True)


def score_in_worker(texts):
    assert _model is not None
    return os.getpid(), _model.scores(texts)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_process_pool_loads_the_model_once_in_each_worker(method, large, large_file):
    """The initializer maps the file: all workers share the weights, nothing is sent."""
    _, texts, scores = large
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, context, load_in_worker, (large_file,)) as pool:
        batches = [texts[i : i + 10] for i in range(0, len(texts), 10)]
        results = list(pool.map(score_in_worker, batches, timeout=240))
    np.testing.assert_array_equal(np.concatenate([part for _, part in results]), scores)
    assert os.getpid() not in {process for process, _ in results}


# ---- a pre-fork server --------------------------------------------------------------------------

SERVER = """
    import os, signal, socket, sys
    from thresher import Categorizer

    # The parent loads the model and forks workers, as gunicorn does with preload_app.
    model = Categorizer.load(sys.argv[1], mmap=True)
    texts = [f"grain {i}" for i in range(40)]
    expected = model.predict(texts)
    for text in texts:
        model.predict([text])  # the parent has built its compiled reader
    listener = socket.create_server(("127.0.0.1", 0))
    workers = []
    for _ in range(3):
        if (worker := os.fork()) == 0:
            while True:
                connection, _ = listener.accept()
                with connection, connection.makefile("rw", encoding="utf-8") as stream:
                    for line in stream:
                        print(os.getpid(), model.predict([line])[0], file=stream, flush=True)
        workers.append(worker)
    try:
        clients = [socket.create_connection(listener.getsockname(), timeout=60) for _ in workers]
        streams = [client.makefile("rw", encoding="utf-8") for client in clients]
        pids = set()
        for text, label in zip(texts, expected):
            for stream in streams:
                print(text, file=stream, flush=True)
                pid, answer = stream.readline().split()
                assert answer == label, (answer, label)
                pids.add(int(pid))
        assert pids == set(workers), (pids, workers)
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
            os.waitpid(worker, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_server_that_forks_workers_after_loading(large_file):
    run(SERVER, large_file)


# ---- fork beside threads ------------------------------------------------------------------------

FORK_WHILE_LEARNING = """
    import copy, os, sys, threading, time
    from thresher import Categorizer, ModelError

    n_documents, n_forks = map(int, sys.argv[1:])
    texts = ["wheat corn field", "crude oil barrel", "ship port sea"] * 20
    model = Categorizer().fit(texts, ["grain", "oil", "sea"] * 20)

    def use(model):
        for _ in range(20):
            assert model.predict(["crude oil barrel"]) == ["oil"]
        assert model.predict(texts[:30]) == ["grain", "oil", "sea"] * 10
        model.learn(["a metal called tin"], ["metal"])
        assert model.predict(["tin metal"]) == ["metal"]

    twin = copy.deepcopy(model).learn(texts[:30], ["grain", "oil", "sea"] * 10)
    use(twin)  # what is compiled now need not be compiled in a child
    is_over = threading.Event()

    def learn():
        number = 0
        while not is_over.is_set():
            number += 1
            new = [f"wheat fresh{number} word{number}x{i}" for i in range(n_documents)]
            model.learn(new, ["grain"] * n_documents)

    def read():
        while not is_over.is_set():
            model.predict(["crude oil"])

    threads = [threading.Thread(target=work, daemon=True) for work in (learn, read)]
    for thread in threads:
        thread.start()
    outcomes = []
    for number in range(n_forks):
        time.sleep(0.003 * (number % 7))
        if (child := os.fork()) == 0:
            code = 3
            try:
                use(model)
                code = 0
            except ModelError as error:
                code = 1 if "forked while another thread" in str(error) else 2
            finally:
                os._exit(code)
        end = time.monotonic() + 30
        while not (done := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(child, 9)
                os.waitpid(child, 0)
                done = child, 9
                break
            time.sleep(0.002)
        outcomes.append(done[1] if done[1] < 256 else os.waitstatus_to_exitcode(done[1]))
    is_over.set()
    for thread in threads:
        thread.join(60)
    print(outcomes)
    assert set(outcomes) <= {0, 1}, outcomes  # a whole model, or the error
    assert outcomes.count(0) > 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("n_documents", [1, 30])
def test_a_child_forked_beside_a_learner_has_a_whole_model_or_an_error(n_documents):
    run(FORK_WHILE_LEARNING, n_documents, 24)


FORK_WHILE_IMPORTING = """
    import os, signal, sys, threading, time
    from thresher import Categorizer

    model = Categorizer("perceptron").fit(["wheat corn", "oil crude"] * 6, ["grain", "oil"] * 6)
    has_begun = threading.Event()

    class Slow:
        def find_spec(self, name, path=None, target=None):
            if name == "thresher.model.single":
                has_begun.set()
                time.sleep(0.5)

    sys.modules.pop("thresher.model.single", None)
    sys.meta_path.insert(0, Slow())
    reader = threading.Thread(target=lambda: [model.predict(["wheat"]) for _ in range(100)])
    reader.start()
    assert has_begun.wait(30)
    if (child := os.fork()) == 0:
        signal.alarm(20)  # ends a child that waits for ever
        assert [model.predict(["wheat"]) for _ in range(100)][-1] == ["grain"]
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    reader.join()
"""


def test_a_child_forked_while_another_thread_imports_does_not_wait_for_ever():
    run(FORK_WHILE_IMPORTING)


# ---- files that change --------------------------------------------------------------------------

LOAD_OFTEN = """
    import sys, time
    from thresher import Categorizer, ModelError

    outcomes, end = {"read": 0, "refused": 0}, time.monotonic() + 4
    while time.monotonic() < end:
        try:
            answer = Categorizer.load(sys.argv[1]).predict(["oil w1 w2 w3"])
            assert answer[0] in ("grain", "oil", "sea"), answer
            outcomes["read"] += 1
        except ModelError as error:
            assert str(error).endswith("."), error
            outcomes["refused"] += 1
    print(outcomes["read"], outcomes["refused"])
"""


def test_a_file_that_is_overwritten_in_place_is_read_or_refused(large, large_file):
    """As `cp new model` does it, while another process loads the model."""
    content = large_file.read_bytes()
    command = [sys.executable, "-c", textwrap.dedent(LOAD_OFTEN), str(large_file)]
    reader = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while reader.poll() is None:
        with open(large_file, "wb") as file:
            for start in range(0, len(content), 1 << 18):
                file.write(content[start : start + (1 << 18)])
                file.flush()
    printed, complaint = reader.communicate(timeout=60)
    assert reader.returncode == 0, complaint
    assert sum(map(int, printed.split())) > 0


def test_a_mapped_file_may_be_replaced_by_renaming(large, large_file):
    _, texts, scores = large
    mapped = Categorizer.load(large_file, mmap=True)
    Categorizer().fit(SMALL, SMALL_LABELS).save(large_file)  # writes another file and renames it
    np.testing.assert_array_equal(mapped.scores(texts), scores)
    assert Categorizer.load(large_file, mmap=True).predict(SMALL[:3]) == SMALL_LABELS[:3]


# ---- shared memory ------------------------------------------------------------------------------


def test_a_mapped_model_reads_learns_and_saves_as_a_loaded_one(large, large_file, tmp_path):
    _, texts, scores = large
    content = large_file.read_bytes()
    models = [Categorizer.load(large_file, mmap=mmap) for mmap in (False, True)]
    for number, model in enumerate(models):
        np.testing.assert_array_equal(model.scores(texts), scores)
        np.testing.assert_array_equal(read_singly(model, texts[:40]), scores[:40])
        model.learn(["a metal called tin", texts[0]], ["metal", "grain"])
        model.save(tmp_path / str(number))
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()
    assert large_file.read_bytes() == content


SHARE = """
    import sys
    from thresher import Categorizer

    model = Categorizer.load(sys.argv[1], mmap=True)
    for _ in range(40):
        model.predict(["oil w1 w2 w3"])
    print("ready", flush=True)
    sys.stdin.readline()
"""


def mapped_bytes(process, path):
    """Return the bytes of a file that a process has mapped, in full and its share of them."""
    full = share = 0
    is_file = False
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        if "-" in line.split()[0]:
            is_file = line.endswith(str(path))
        elif is_file and line.startswith("Rss:"):
            full += int(line.split()[1]) << 10
        elif is_file and line.startswith("Pss:"):
            share += int(line.split()[1]) << 10
    return full, share


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="no /proc on this system")
def test_processes_hold_the_weights_of_a_mapped_model_once(large_file):
    command = [sys.executable, "-c", textwrap.dedent(SHARE), str(large_file)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(4)]
    try:
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * 4
        sizes = [mapped_bytes(process.pid, large_file) for process in processes]
    finally:
        for process in processes:
            process.communicate("\n", timeout=60)
    n_bytes = large_file.stat().st_size
    assert all(full > 0.9 * n_bytes for full, _ in sizes)  # each has all of it in memory
    assert sum(share for _, share in sizes) < 1.1 * n_bytes  # and together they have it once
