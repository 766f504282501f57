"""One writer at a time, a learn that can be taken back, and one that saves nothing."""

import errno
import fcntl
import itertools
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from interrupts import interrupted_at
from thresher import Categorizer, files
from thresher.cli.main import app
from thresher.errors import ModelError, OutputError
from thresher.model import storage
from thresher.model.storage import read_model, write_model

TEXTS = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
LABELS = ["spam", "ham", "spam", "ham"]


def run(*words, status=0):
    """Run the command line in this process; return what it printed, or its complaint."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == status, result.output
    return result.stderr if status else result.stdout


def start(*words, **more):
    """Start the command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "thresher", *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background has its children ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **more,
    )


def documents(path, *texts):
    lines = [json.dumps({"text": text, "label": "spam"}) + "\n" for text in texts]
    path.write_text("".join(lines))
    return path


def names(folder):
    """What a folder holds beside the documents."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".jsonl")


def is_locked(model):
    lock = model.with_name(f".{model.name}.lock")
    try:
        with open(lock, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


@contextmanager
def holding(model, *words):
    """Give a process that has locked the model and waits for its documents."""
    holder = start(*(words or ("learn", model, "-", "--format", "jsonl")))
    try:
        while not is_locked(model):
            assert holder.poll() is None, holder.stderr.read()
            time.sleep(0.02)
        yield holder
    finally:
        holder.kill()
        holder.communicate()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "mail.thresher"
    Categorizer().fit(TEXTS, LABELS).save(path)
    return path.read_bytes()


@pytest.fixture
def model(trained, tmp_path):
    path = tmp_path / "mail.thresher"
    path.write_bytes(trained)
    return path


@pytest.fixture
def more(tmp_path):
    return documents(tmp_path / "more.jsonl", "cheap offer", "fresh offer")


# One writer ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_of_two_learns_at_once_none_is_lost(model, trained, tmp_path):
    first, second = (documents(tmp_path / f"{n}.jsonl", f"fresh{n} words") for n in range(2))
    for order in [(first, second), (second, first)] * 2:
        model.write_bytes(trained)
        writers = [start("learn", model, one) for one in order]
        for writer in writers:
            _, complaint = writer.communicate()
            assert writer.returncode == 0, complaint
        learned = Categorizer.load(model)
        assert learned.documents_seen_ == 6
        assert {"fresh0", "fresh1"} <= set(learned.features_.names(range(learned.n_features)))
    assert names(tmp_path) == ["mail.thresher", "mail.thresher.before-learn"]


LEARN_OFTEN = """
import os, sys
from thresher import Categorizer
os.chdir(sys.argv[2])
for _ in range(20):
    with Categorizer.updating(sys.argv[1], tell=lambda sentence: None) as model:
        model.learn(["cheap pills"], ["spam"])
"""


@pytest.mark.slow
def test_many_updates_of_several_processes_are_all_kept(model, tmp_path):
    """Through a link, by its own name and by a relative one: one file, one lock."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(model)
    spellings = [model, tmp_path / "folder" / "link", model.name]
    writers = [
        subprocess.Popen([sys.executable, "-c", LEARN_OFTEN, name, tmp_path]) for name in spellings
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert Categorizer.load(model).documents_seen_ == 4 + 60
    assert names(tmp_path) == ["folder", "mail.thresher"]
    assert names(tmp_path / "folder") == ["link"]


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["learn", "tune", "undo"])
def test_a_second_writer_says_what_it_waits_for(verb, model, more, tmp_path):
    run("learn", model, more)
    seen = Categorizer.load(model).documents_seen_
    words = {
        "learn": ("learn", model, more),
        "tune": ("tune", model, "--none"),
        "undo": ("learn", "--undo", model),
    }[verb]
    with holding(model) as first:
        second = start(*words)
        sentence = second.stderr.readline()
        assert sentence == f"Waiting for another process that is changing {model}.\n"
        assert second.poll() is None
        _, complaint = first.communicate('{"text": "dear friend", "label": "spam"}\n')
        assert first.returncode == 0, complaint
    printed, rest = second.communicate()
    assert second.returncode == 0 and "Waiting" not in rest
    changed = Categorizer.load(model)
    assert changed.documents_seen_ == seen + {"learn": 3, "tune": 1, "undo": 0}[verb]
    assert changed.decisions_.allow_none == (verb == "tune")
    assert (f"{seen + 1} -> {seen}" in printed) == (verb == "undo")


def test_a_writer_that_is_killed_holds_up_nobody(model, more, tmp_path):
    with holding(model) as first:
        first.send_signal(signal.SIGKILL)
        first.wait()
    assert names(tmp_path) == [".mail.thresher.lock", "mail.thresher"]
    run("learn", model, more)
    assert Categorizer.load(model).documents_seen_ == 6
    assert names(tmp_path) == ["mail.thresher", "mail.thresher.before-learn"]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_ctrl_c_ends_the_waiting(model, trained, more, unbuffered):
    with holding(model):
        environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
        second = start("learn", model, more, env=environment)
        assert second.stderr.readline().startswith("Waiting")
        second.send_signal(signal.SIGINT)
        printed, complaint = second.communicate(timeout=60)
        assert second.returncode == 130 and printed == ""
        assert complaint == "thresher: stopped; no file is half-written.\n"
        assert is_locked(model)  # by the first, still
    assert model.read_bytes() == trained


def test_who_reads_does_not_wait(model):
    with holding(model):
        assert Categorizer.load(model).predict(["cheap pills"]) == ["spam"]
        run("inspect", model)


def test_an_exception_saves_nothing_and_unlocks(model, trained, tmp_path):
    with pytest.raises(ZeroDivisionError), Categorizer.updating(model) as changed:
        changed.learn(["cheap offer"], ["spam"])
        raise ZeroDivisionError
    assert model.read_bytes() == trained and names(tmp_path) == [model.name]


def test_threads_of_one_process_wait_for_each_other(model):
    with Categorizer.updating(model), pytest.raises(TimeoutError, match="Waiting for another"):

        def give_up(sentence):
            raise TimeoutError(sentence)

        with Categorizer.updating(model, tell=give_up):
            pass


def test_waiting_is_a_warning_in_python(model, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0)
    with holding(model) as first:
        monkeypatch.setattr(time, "sleep", lambda seconds: first.kill())
        with (
            pytest.warns(UserWarning, match="Waiting for another process"),
            Categorizer.updating(model) as changed,
        ):
            changed.learn(["cheap offer"], ["spam"])
    assert Categorizer.load(model).documents_seen_ == 5


def test_a_lock_that_was_removed_meanwhile_is_none(model, monkeypatch):
    """Who had it removes it; whoever had opened it by then must not take it for the lock."""
    lock = model.with_name(".mail.thresher.lock")
    stat, removals = os.stat, iter([True])

    def stat_after_removal(path, **how):
        if path == lock and next(removals, False):
            lock.unlink()
        return stat(path, **how)

    monkeypatch.setattr(os, "stat", stat_after_removal)
    assert files._try_lock(lock) is None
    with files._try_lock(lock):
        assert is_locked(model)


def test_where_nothing_can_be_locked_it_is_told(model, more, trained, monkeypatch):
    def refuse(file, how):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    sentence = run("learn", model, more, status=2)
    assert "mail.thresher.lock cannot be locked" in sentence and "No locks available" in sentence
    assert model.read_bytes() == trained


def test_a_model_that_is_not_there_is_told_as_such(tmp_path):
    for path in (tmp_path / "missing", tmp_path / "nowhere" / "missing"):
        with pytest.raises(ModelError, match="There is no model"), Categorizer.updating(path):
            pass
    assert names(tmp_path) == []


def test_the_relative_name_of_a_model_is_that_at_the_beginning(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with Categorizer.updating(model.name) as changed:
        os.chdir("elsewhere")
        changed.learn(["cheap offer"], ["spam"])
    assert Categorizer.load(model).documents_seen_ == 5
    assert os.listdir() == []


# What killed writers left ----------------------------------------------------------------------

LEFT = [".mail.thresher.lock"] + [
    f".mail.thresher.{n * 16}.tmp{e}" for n in "0f" for e in ("", ".thresher")
]


def test_the_next_save_clears_away_what_killed_writers_left(model, tmp_path):
    others = [".mail.thresher.txt", ".mail.thresher.0.tmp", ".other.thresher.lock", "0.tmp"]
    for name in LEFT + others:
        (tmp_path / name).write_text("left")
    Categorizer.load(model).save(model)
    assert names(tmp_path) == sorted([model.name, *others])


def test_what_a_living_writer_holds_is_left_alone(model, tmp_path):
    with files.replace_file(model) as first:
        first.write_text("first")
        with files.replace_file(model) as second:
            second.write_text("second")
            assert {first.name, second.name} <= set(names(tmp_path))
        assert model.read_text() == "second" and names(tmp_path) == [first.name, model.name]
    assert model.read_text() == "first" and names(tmp_path) == [model.name]


def test_a_lock_that_somebody_holds_is_left_alone(model):
    with holding(model):
        Categorizer.load(model).save(model)
        assert is_locked(model)


def test_where_nothing_can_be_locked_leftovers_stay_and_saving_works(model, tmp_path, monkeypatch):
    def refuse(file, how):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    for name in LEFT:
        (tmp_path / name).touch()
    monkeypatch.setattr(fcntl, "flock", refuse)
    write_model(model, {"n": 1}, {})
    assert read_model(model)[0] == {"n": 1}
    assert names(tmp_path) == sorted([model.name, *LEFT])


def test_a_folder_that_somebody_keeps_locked_holds_nobody_up(model, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "EXCHANGE", 0.01)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        write_model(model, {"n": 1}, {})
    finally:
        os.close(descriptor)
    assert read_model(model)[0] == {"n": 1} and names(tmp_path) == [model.name]


def test_a_folder_that_cannot_be_synced_is_told_as_such(model, monkeypatch):
    sync = os.fsync

    def refuse(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OutputError, match="was written, but may be lost in a power cut: Input"):
        write_model(model, {"n": 1}, {})
    assert read_model(model)[0] == {"n": 1}


def test_threads_that_save_at_once_leave_one_whole_model(tmp_path):
    """And no model before it, unless it was saved by one that keeps it."""
    path, kept = tmp_path / "m", tmp_path / "m.before-learn"

    def save(who):
        for n in range(10):
            write_model(path, {"who": who, "n": n}, {}, keep_previous=who % 2 == 0)

    threads = [threading.Thread(target=save, args=[who]) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    header = read_model(path)[0]
    assert header["n"] == 9 and kept.exists() == (header["who"] % 2 == 0)
    write_model(path, {}, {})
    assert names(tmp_path) == ["m"]


# Whatever can fail on a disk, by the names of the functions that are called.
WRITING = {"open", "write", "fsync", "chmod", "chown", "link", "replace", "unlink", "close"}


@pytest.mark.parametrize("is_after", [False, True], ids=["before it is done", "when it is done"])
def test_any_call_of_a_save_may_fail(is_after, tmp_path):
    """One after the other, on a full disk: the old model or the new one, and a sentence."""
    path, kept = tmp_path / "m", tmp_path / "m.before-learn"
    failed = set()

    def fail(frame, event, function):
        nonlocal left
        name = getattr(function, "__name__", "")
        # A call to close may fail, but never to close.
        if event == ("c_return" if is_after else "c_call") and name in WRITING:
            left -= is_after or name != "close"
            if left == 0 and (is_after or name != "close"):
                failed.add(name)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for call in itertools.count(1):
        write_model(path, {"n": 0}, {})
        write_model(path, {"n": 1}, {}, keep_previous=True)
        left, sentence = call, ""
        sys.setprofile(fail)
        try:
            write_model(path, {"n": 2}, {}, keep_previous=True)
        except OutputError as error:
            sentence = str(error)
        finally:
            sys.setprofile(None)
        now, before = read_model(path)[0]["n"], read_model(kept)[0]["n"]
        # Kept twice, which `learn --undo` knows, where the old one stayed in its place.
        assert (now, before) in [(1, 0), (1, 1), (2, 1)]
        assert now == 2 or "m cannot be written: " in sentence
        write_model(path, {"n": 3}, {})
        assert names(tmp_path) == ["m"]
        if left > 0:
            break
    assert WRITING - {"unlink"} <= failed | {"close"} and call > 15


# Taking back --------------------------------------------------------------------------------------


def test_undo_gives_the_bytes_before(model, trained, more, tmp_path):
    run("learn", model, more)
    once = model.read_bytes()
    run("learn", model, more)
    printed = run("learn", "--undo", model)
    assert "documents learned 8 -> 6" in printed and str(model) in printed
    assert model.read_bytes() == once != trained
    assert "nothing to undo" in run("learn", "--undo", model, status=2)
    assert model.read_bytes() == once and names(tmp_path) == [model.name]


def test_undo_as_json(model, trained, more):
    assert json.loads(run("learn", model, more, "--json"))["model"] == str(model)
    figures = json.loads(run("learn", "--undo", model, "--json"))
    assert figures == {"documents_before": 6, "documents": 4, "model": str(model)}
    assert model.read_bytes() == trained


def test_undo_through_a_link_keeps_the_link(model, trained, more, tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link"
    link.symlink_to("../mail.thresher")
    run("learn", link, more)
    assert names(tmp_path / "folder") == ["link"]
    run("learn", "--undo", link)
    assert link.is_symlink() and model.read_bytes() == trained


def test_undo_keeps_permissions_that_were_given_meanwhile(model, more):
    run("learn", model, more)
    os.chmod(model, 0o600)
    run("learn", "--undo", model)
    assert model.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("verb", ["train", "tune", "save"])
def test_another_change_leaves_nothing_to_take_back(verb, model, more, tmp_path):
    """What was before the learn is no longer what was before the model of now."""
    run("learn", model, more)
    if verb == "train":
        lines = [f"__label__{label} {text}\n" for label, text in zip(LABELS, TEXTS, strict=True)]
        (tmp_path / "all.jsonl").write_text("".join(lines))
        run("train", tmp_path / "all.jsonl", "--format", "fasttext", "-o", model)
    elif verb == "tune":
        run("tune", model, "--none")
    else:
        Categorizer.load(model).save(model)
    now = model.read_bytes()
    assert names(tmp_path) == [model.name]
    assert "nothing to undo" in run("learn", "--undo", model, status=2)
    assert model.read_bytes() == now


def test_another_output_leaves_the_model_alone(model, trained, more, tmp_path):
    other = tmp_path / "other"
    for _ in range(2):
        run("learn", model, more, "-o", other)
    assert model.read_bytes() == trained and names(tmp_path) == [model.name, "other"]
    assert Categorizer.load(other).documents_seen_ == 6
    run("learn", other, more, "-o", f"{tmp_path}/./other")  # no other one at all
    run("learn", "--undo", other)


def test_undo_stands_alone(model, more):
    run("learn", model, more)
    for words in ([more], ["-o", "x"], ["--dry-run"]):
        assert "give MODEL alone" in run("learn", "--undo", model, *words, status=2)


def test_a_killed_learn_that_only_kept_the_model_has_nothing_to_take_back(model, tmp_path):
    os.link(model, tmp_path / "mail.thresher.before-learn")
    assert "nothing to undo" in run("learn", "--undo", model, status=2)


def test_a_damaged_model_is_not_put_in_place(model, more, tmp_path):
    run("learn", model, more)
    now = model.read_bytes()
    (tmp_path / "mail.thresher.before-learn").write_bytes(b"PK")
    assert "is not a model" in run("learn", "--undo", model, status=2)
    assert model.read_bytes() == now


def test_without_links_the_model_is_copied(model, trained, more, monkeypatch):
    def refuse(*paths):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    os.chmod(model, 0o600)
    for _ in range(2):
        before = model.read_bytes()
        run("learn", model, more)
        kept = model.with_name("mail.thresher.before-learn")
        assert kept.read_bytes() == before and kept.stat().st_mode & 0o777 == 0o600
    run("learn", "--undo", model)
    assert model.read_bytes() == before != trained


@pytest.mark.parametrize("failing", ["os.fsync", "os.link, shutil.copy2", "os.replace"])
def test_a_full_disk_leaves_the_model_and_nothing_beside_it(
    failing, model, trained, more, tmp_path, monkeypatch
):
    def refuse(*paths):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        for name in failing.split(", "):
            broken.setattr(name, refuse)
        assert "No space left on device" in run("learn", model, more, status=2)
    assert model.read_bytes() == trained and names(tmp_path) == [model.name]
    run("learn", model, more)
    with monkeypatch.context() as broken:
        for name in failing.split(", "):
            broken.setattr(name, refuse)
        run("learn", model, more, status=2)
    run("learn", "--undo", model)
    assert model.read_bytes() == trained


def test_a_file_that_may_not_grow_leaves_the_model(model, trained, more, tmp_path):
    limited = subprocess.run(
        [sys.executable, "-m", "thresher", "learn", model, more],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert limited.returncode == 2 and limited.stderr.count("\n") == 1
    assert model.read_bytes() == trained and names(tmp_path) == [model.name]


def test_an_interrupt_at_any_line_leaves_the_model_or_what_takes_it_back(tmp_path):
    """Wherever it comes: the old model, or the new one with the old one beside it."""
    path, kept = tmp_path / "m", tmp_path / "m.before-learn"
    write_model(path, {"n": 0}, {})
    old = path.read_bytes()
    for line in itertools.count(1):
        path.write_bytes(old)
        kept.unlink(missing_ok=True)
        with interrupted_at(line, storage, files) as came:
            write_model(path, {"n": 1}, {}, keep_previous=True)
        if not came:
            break
        assert {"m"} <= set(names(tmp_path)) <= {"m", "m.before-learn"}
        if kept.exists():
            assert kept.read_bytes() == old
        assert read_model(path)[0]["n"] <= kept.exists()
    assert line > 50 and kept.read_bytes() == old


# A dry run ----------------------------------------------------------------------------------------


def test_a_dry_run_shows_the_same_and_saves_nothing(model, trained, more, tmp_path):
    modified = model.stat().st_mtime_ns
    dry = run("learn", model, more, "--dry-run")
    figures = json.loads(run("learn", model, more, "--dry-run", "--json", "-o", tmp_path / "x"))
    assert model.read_bytes() == trained and model.stat().st_mtime_ns == modified
    assert names(tmp_path) == [model.name]
    real = run("learn", model, more)
    assert dry.endswith("\nNothing was saved, for this is a dry run.\n")
    assert dry.splitlines()[:-1] == real.splitlines()[:-1]
    assert (figures["documents"], figures["right"], figures["model"]) == (2, 2, None)


AS_NOBODY = """
import os, sys
from click.testing import CliRunner
from thresher.cli.main import app
model, more = sys.argv[1:]
for words in ([more, "--dry-run"], [more, "--dry-run"], [more], ["--undo"]):
    result = CliRunner().invoke(app, ["learn", model, *words])
    if os.getuid() == 0:  # now that all is imported, perhaps from where only root may read
        os.setgid(65534), os.setuid(65534)
    printed = result.stderr if result.exit_code else result.stdout
    print(result.exit_code, printed.splitlines()[-1])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o755), (0o644, 0o555), (0o666, 0o555)])
def test_what_is_protected_takes_a_dry_run_and_no_other(trained, file, folder):
    with tempfile.TemporaryDirectory() as name:  # not tmp_path, which another user cannot reach
        place = Path(name) / "protected"
        place.mkdir()
        model, more = place / "mail.thresher", documents(place / "more.jsonl", "cheap offer")
        model.write_bytes(trained)
        for path, mode in [(name, 0o755), (model, file), (place, folder)]:
            os.chmod(path, mode)
        command = [sys.executable, "-c", AS_NOBODY, model, more]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        _, dry, *others = printed.splitlines()
        assert dry == "0 Nothing was saved, for this is a dry run."
        for refused in others:
            assert refused.startswith(f"2 thresher: {model} cannot be written: ")
            assert refused.endswith("is write-protected.")
        assert model.read_bytes() == trained and names(place) == [model.name]


def test_of_two_files_the_one_that_cannot_be_written_is_named(tmp_path):
    with (
        pytest.raises(OutputError, match=r"^\S*b cannot be written: File too large\.$"),
        files.replace_file(tmp_path / "a"),
        files.replace_file(tmp_path / "b"),
    ):
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
