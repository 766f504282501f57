"""Compiled kernels on disk: whatever happens to the files, the answer is the same."""

import io
import json
import os
import pickle
import re
import resource
import shutil
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numba
import pytest
from numba.core.compiler import CompileResult

import thresher
from interrupts import interrupted_at
from thresher import Categorizer
from thresher._kernels import _cache, _jit
from thresher._kernels._cache import activity
from thresher._kernels._jit import kernel
from thresher.cli import _compiling, common
from thresher.errors import OutputError, ThresherWarning
from thresher.files import cache_folder

SOURCE = Path(thresher.__file__).parent
pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


def double(number):
    return 2 * number


def triple(number):
    return 3 * number


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of its own for kernels, and nothing remembered of what was said."""
    for name, value in {
        "only": tmp_path / "kernels", "complaint": "", "loaded": 0, "compiled": 0, "compiling": 0,
        "tell": [].append, "used": set(),
    }.items():  # fmt: skip
        monkeypatch.setattr(activity, name, value)
    _cache._tidy.cache_clear()
    return tmp_path / "kernels"


def compiled_now(function=double, answer=42):
    """Call a kernel that this process has not called before; return whether it was compiled."""
    before = activity.compiled
    assert kernel(function)(21) == answer
    return activity.compiled > before


def files(place, pattern="*/*.kernel"):
    return sorted(place.glob(pattern))


def sentences():
    return activity.tell.__self__


def test_what_was_compiled_is_read_ever_after(place):
    assert compiled_now() and not compiled_now()
    assert (activity.compiled, activity.loaded, activity.compiling) == (1, 1, 0)
    assert kernel(double)(1.5) == 3.0  # other types are another kernel
    assert len(files(place)) == 2 == len(activity.used)
    assert not sentences()


# ---- damage -----------------------------------------------------------------------------------


def cut(share):
    return lambda path: os.truncate(path, int(path.stat().st_size * share))


def flip(share):
    def damage(path):
        content = bytearray(path.read_bytes())
        content[min(int(len(content) * share), len(content) - 1)] ^= 16
        path.write_bytes(content)

    return damage


def put(content):
    return lambda path: path.write_bytes(content(path))


def replace_by(make):
    def damage(path):
        path.unlink()
        make(path)

    return damage


def give_away(path):
    if os.getuid():
        pytest.skip("only root can give a file away")
    os.chown(path, 12345, 12345)


def swap(path):
    """Put the whole and right file of another kernel in the place of this one."""
    assert compiled_now(triple, 63)
    other = next(one for one in files(path.parents[1]) if one != path)
    shutil.copy(other, path)


DAMAGES = {
    "empty": cut(0),
    "a part of the digest": put(lambda path: path.read_bytes()[:20]),
    "the digest alone": put(lambda path: path.read_bytes()[:32]),
    "half": cut(0.5),
    "all but a byte": put(lambda path: path.read_bytes()[:-1]),
    "a byte more": put(lambda path: path.read_bytes() + b"\0"),
    "zeroed": put(lambda path: bytes(path.stat().st_size)),
    "a bit of the digest": flip(0),
    "a bit of the names": flip(0.02),
    "a bit of the machine code": flip(0.4),
    "a bit of the bitcode": flip(0.8),
    "the last bit": flip(1),
    "sparse and huge": lambda path: os.truncate(path, 1 << 40),
    "another kernel": swap,
    "gone": os.unlink,
    "a pipe": replace_by(os.mkfifo),
    "a link to nowhere": replace_by(lambda path: path.symlink_to("nowhere")),
    "a link to itself": replace_by(lambda path: path.symlink_to(path.name)),
    "zeros without end": replace_by(lambda path: path.symlink_to("/dev/zero")),
    "a full device": replace_by(lambda path: path.symlink_to("/dev/full")),
    "another user's": give_away,
    "everybody's": lambda path: os.chmod(path, 0o666),
    "all of it gone": lambda path: shutil.rmtree(path.parents[1]),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_replaced_in_silence(place, damage):
    compiled_now()
    (path,) = files(place)
    damage(path)
    assert compiled_now() and not compiled_now()
    assert stat.S_ISREG(path.lstat().st_mode) and not sentences()
    assert not files(place, "*/.*")


def test_an_unreadable_file_is_replaced_in_silence(place):
    compiled_now()
    os.chmod(files(place)[0], 0)
    assert compiled_now() == (os.getuid() != 0)  # root can read it
    assert not compiled_now() and not sentences()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"cno_such_module\nGone\n.",
        b"cthresher\nRenamed\n.",
        pickle.dumps((1, 2)),
        b"\x80\x05.",
    ],
    ids=["nothing", "a module that is gone", "a class that is renamed", "other things", "no value"],
)
def test_what_cannot_be_unpickled_is_replaced(place, content):
    """With a right digest, as an installation leaves it in which only a library has changed."""
    first = kernel(double)
    first(21)
    key = first._cache._key(first.signatures[0], first.targetctx.codegen())
    _cache._write(files(place)[0], key, content)
    assert compiled_now() and not compiled_now() and not sentences()


def test_a_folder_in_the_way_of_a_file_is_said_once(place):
    compiled_now()
    (path,) = files(place)
    path.unlink()
    path.mkdir()
    (path / "in it").touch()
    assert compiled_now() and compiled_now()
    assert len(sentences()) == 1 and str(place) in sentences()[0]


# ---- no place ---------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, 1, 40, 3000])
def test_a_full_disk_is_said_once(place, limit):
    """The system refuses a file's next byte (RLIMIT_FSIZE), as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        answers = kernel(double)(21), kernel(triple)(21)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert answers == (42, 63) and not files(place, "*/*") and not files(place, "*/.*")
    (sentence,) = sentences()
    assert sentence.startswith(f"Compiled code cannot be kept: {place}: File too large. ")
    assert "THRESHER_CACHE" in sentence and "`thresher warm-up`" in sentence
    assert compiled_now() and not compiled_now()  # when there is space again


def test_in_python_it_is_a_warning(place, monkeypatch):
    place.write_text("in the way")
    monkeypatch.setattr(activity, "tell", _cache._warn)
    with pytest.warns(ThresherWarning, match="cannot be kept: .*kernels: ") as caught:
        assert kernel(double)(21) == 42 and kernel(triple)(21) == 63
    assert len(caught) == 1


def test_the_next_place_is_taken(place, tmp_path, monkeypatch):
    place.write_text("in the way")
    monkeypatch.setattr(_cache, "kernel_folders", lambda: [place, tmp_path / "second"])
    assert compiled_now() and not compiled_now()
    assert len(files(tmp_path / "second")) == 1 and not sentences()


def test_places(monkeypatch, tmp_path):
    beside = SOURCE / "_kernels" / "__pycache__" / "kernels"
    monkeypatch.setattr(activity, "only", None)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.delenv("THRESHER_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert _cache.kernel_folders() == [beside, tmp_path / "thresher" / "kernels"]
    monkeypatch.setenv("THRESHER_CACHE", "named")
    assert _cache.kernel_folders() == [Path("named/kernels"), beside]
    monkeypatch.setattr(numba.config, "CACHE_DIR", "of-numba")
    assert _cache.kernel_folders() == [Path("named/kernels"), Path("of-numba/thresher/kernels")]


def test_a_user_without_a_home(monkeypatch):
    def nobody(number):
        raise KeyError(number)

    for name in ("HOME", "XDG_CACHE_HOME", "THRESHER_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    monkeypatch.setattr(activity, "only", None)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert len(_cache.kernel_folders()) == 1
    with pytest.raises(OutputError, match="no home folder for the cache; set THRESHER_CACHE"):
        cache_folder()


# ---- what machine code depends on -------------------------------------------------------------


def test_the_content_of_the_kernels_counts_and_no_time(monkeypatch, tmp_path):
    copy = tmp_path / "_kernels"
    shutil.copytree(SOURCE / "_kernels", copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert _cache.stamp.__wrapped__() == _cache.stamp()
    monkeypatch.setattr(_cache, "__file__", str(copy / "_cache.py"))
    assert _cache.stamp.__wrapped__() == _cache.stamp()
    os.utime(copy / "text.py", (0, 0))
    assert _cache.stamp.__wrapped__() == _cache.stamp()
    with open(copy / "text.py", "a") as file:
        file.write("\n")
    assert _cache.stamp.__wrapped__() != _cache.stamp()
    shutil.rmtree(copy)
    with pytest.raises(OSError, match="source of the kernels"):
        _cache.stamp.__wrapped__()


def test_code_with_and_without_checks_is_never_mixed(monkeypatch):
    stamps = set()
    for checks in (None, 0, 1):
        monkeypatch.setattr(numba.config, "BOUNDSCHECK", checks)
        stamps.add(_cache.stamp.__wrapped__())
    assert len(stamps) == 3


def test_another_processor_has_files_of_its_own(place, monkeypatch):
    compiled_now()
    codegen = type(kernel(double).targetctx.codegen())
    monkeypatch.setattr(codegen, "magic_tuple", lambda self: ("another",))
    assert compiled_now() and not compiled_now()
    assert len(files(place)) == 2


def test_what_earlier_versions_and_killed_writers_left_goes(place):
    for number in range(9):
        (place / f"{number:016x}").mkdir(parents=True)
        os.utime(place / f"{number:016x}", (number, number))
    (place / "not ours").mkdir()
    own = place / _cache.stamp()
    own.mkdir()
    for name, age in ((".old.tmp", 2 * _cache.ABANDONED), (".new.tmp", 0)):
        (own / name).touch()
        os.utime(own / name, (time.time() - age,) * 2)
    assert compiled_now()
    kept = [f"{number:016x}" for number in range(9)][-_cache.OLD_FOLDERS :]
    assert {one.name for one in place.iterdir()} == {*kept, "not ours", own.name}
    assert [one.name for one in own.glob(".*")] == [".new.tmp"]


# ---- Numba is not as it was -------------------------------------------------------------------


def broken(*arguments, **options):
    raise AttributeError("not any more")


@pytest.mark.parametrize("part", ["_reduce", "_rebuild"])
def test_a_numba_that_gives_or_takes_nothing(place, monkeypatch, part):
    monkeypatch.setattr(CompileResult, part, broken)
    assert compiled_now() and compiled_now()
    reasons = ["Numba did not give it (AttributeError: not any more)"] if part == "_reduce" else []
    assert [one.split(": ", 1)[1].split(". ")[0] for one in sentences()] == reasons


def test_a_numba_that_asks_for_nothing(place, monkeypatch):
    class Dispatcher:
        def __init__(self, function):
            self.function = function

        def __call__(self, *arguments):
            return self.function(*arguments)

    monkeypatch.setattr(_jit, "njit", lambda **options: Dispatcher)
    assert not compiled_now()  # as far as the cache knows
    assert len(sentences()) == 1 and f"Numba {numba.__version__}" in sentences()[0]


# ---- interrupts, threads, processes -----------------------------------------------------------


def test_an_interrupt_is_no_error_of_the_cache(place):
    """Ctrl-C at each line of reading and of writing: it arrives, and no half file is left."""
    first = kernel(double)
    first(21)
    types, context = first.signatures[0], first.targetctx
    (path,) = files(place)
    for action in (
        lambda: first._cache.load_overload(types, context),
        lambda: first._cache.save_overload(types, first.overloads[types]),
    ):
        for line in range(1, 500):
            path.unlink(missing_ok=True)
            first._cache.save_overload(types, first.overloads[types])
            with interrupted_at(line, _cache) as came:
                action()
            assert files(place) == [path] and not files(place, "*/.*")
            assert not compiled_now()
            if not came:
                break
        assert 10 < line < 400
    assert not sentences()


def test_threads_compile_a_kernel_once(place):
    shared, answers = kernel(double), []
    barrier = threading.Barrier(4)

    def call():
        barrier.wait()
        answers.append(shared(21))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert answers == [42] * 4 and activity.compiled == 1


# ---- what the command line says ---------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "file"])
def test_compiling_is_announced_on_a_terminal_and_then_erased(place, monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(activity, "only", None)
    monkeypatch.setattr(activity, "watch", activity.watch)
    monkeypatch.setattr(_cache, "kernel_folders", lambda: [place])
    _compiling.report_compiling([].append)
    assert compiled_now() and compiled_now(triple, 63) and not compiled_now()
    lines = [f"{_compiling.ABOUT}: kernel {number}" for number in (1, 2)]
    erased = [f"{line}\r{' ' * len(line)}\r" for line in lines]
    assert stream.getvalue() == ("".join(erased) if stream.isatty() else "")


def test_a_bar_shows_what_is_compiled(place, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(activity, "only", None)
    monkeypatch.setattr(activity, "watch", activity.watch)
    _compiling.report_compiling([].append)
    with common.bar("{task.description}") as bar:
        bar.add_task("reading")
        activity.compiling = 1
        activity.watch()
        bar.refresh()
        activity.compiling = 0
    shown = re.sub("\x1b[^a-zA-Z]*[a-zA-Z]", "", terminal.getvalue())
    assert "reading" in shown and "Compiling, once, about 15 s: kernel 1" in shown


# ---- whole processes --------------------------------------------------------------------------

TEXTS = ["the dog and the cow", "plum tart and apple pie", "a dog barks", "apples, pears & plums"]
LINES = [
    {"text": f"{text} {number}", "labels": labels}
    for number in range(4)
    for text, labels in zip(
        TEXTS, [["animal"], ["food", "fruit"], ["animal"], ["fruit"]], strict=True
    )
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model, after which all that predicting needs has been compiled somewhere."""
    path = tmp_path_factory.mktemp("model") / "m.thresher"
    Categorizer("perceptron").fit(TEXTS, ["animal", "food", "animal", "food"]).save(path)
    assert Categorizer.load(path).predict(["a cow"]) == ["animal"]
    return path


def copied(target):
    """Copy all kernels of this version to a folder, as THRESHER_CACHE would name it."""
    for place in _cache.kernel_folders():
        if (place / _cache.stamp()).is_dir():
            shutil.copytree(
                place / _cache.stamp(), target / "kernels" / _cache.stamp(), dirs_exist_ok=True
            )
    return target


def start(*words, **variables):
    """Start a command that knows no place for kernels but those that are named."""
    blocked = {"NUMBA_CACHE_DIR": os.devnull, "PYTHONPATH": str(SOURCE.parent), "HOME": os.devnull}
    return subprocess.Popen(
        [sys.executable, *map(str, words)], env=os.environ | blocked | variables, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def prediction(process):
    """Return what `predict` says on stderr; on stdout, there must be the right answer."""
    answer, complaint = process.communicate("a cow\n", timeout=300)
    assert (process.returncode, answer) == (0, "animal\n"), complaint
    return complaint


@pytest.mark.slow
def test_without_any_place_a_command_says_so_in_one_line(model, tmp_path):
    """No home, the folder that is named is a file, and so is the one beside the source."""
    (tmp_path / "file").touch()
    copy = tmp_path / "site" / "thresher"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "_kernels" / "__pycache__").touch()
    process = start(
        *("-B", "-m", "thresher", "predict", model),
        PYTHONPATH=str(copy.parent), THRESHER_CACHE=str(tmp_path / "file"), NUMBA_CACHE_DIR="",
    )  # fmt: skip
    complaint = prediction(process)
    assert complaint.startswith("thresher: Compiled code cannot be kept: ")
    assert str(tmp_path / "file") in complaint and complaint.count("\n") == 1


@pytest.mark.slow
def test_commands_share_a_damaged_cache_in_silence(model, tmp_path):
    """Two at once repair it, and a third finds everything there."""
    cache = copied(tmp_path)
    victims = [path for path in files(cache / "kernels") if "score" in path.name]
    assert victims
    for number, path in enumerate(victims):
        list(DAMAGES.values())[number % 12](path)
    words = ("-m", "thresher", "predict", model)
    both = [start(*words, THRESHER_CACHE=str(cache)) for _ in range(2)]
    assert [prediction(one) for one in both] == ["", ""]
    assert not files(cache / "kernels", "*/.*")
    before = {path: path.stat().st_mtime_ns for path in files(cache / "kernels")}
    assert prediction(start(*words, THRESHER_CACHE=str(cache))) == ""
    assert {path: path.stat().st_mtime_ns for path in files(cache / "kernels")} == before


SPARING = """
import sys
from numba.core.runtime import rtsys
from thresher import Categorizer
from thresher._kernels._cache import activity
from thresher._kernels._jit import kernel

model = Categorizer.load(sys.argv[1])
answers = model.predict(["a cow"])
before = rtsys._init
total = kernel(lambda n: sum([i for i in range(n)]))(5)  # which allocates
print(answers, before, total, activity.compiled, activity.loaded > 0, model.predict(["a cow"]))
"""


@pytest.mark.slow
def test_what_kept_kernels_bring_along_is_not_compiled_again(model, tmp_path):
    """Numba's own library is, for one that must be compiled; both kinds run side by side."""
    process = start("-c", SPARING, model, THRESHER_CACHE=str(copied(tmp_path)))
    answer, complaint = process.communicate(timeout=300)
    assert answer == "['animal'] False 10 1 True ['animal']\n", complaint


COMMANDS = """
import sys
from click.testing import CliRunner
from thresher._kernels._cache import activity
from thresher.cli.main import app
from thresher.learners import LEARNERS

single, several, model = sys.argv[1:]

def run(*words):
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0 or "cannot go on learning" in done.output, (words, done.output)

OPTIONS = "|--fast|--stem --strength log|--ngrams 1-3 --gaps|--char-ngrams 2-4|"
OPTIONS += "--hashing-bits 9|--concepts 2|--calibrate sigmoid|--select 4|--fields first-line"
LEARNER = [("--learner", name) for name in LEARNERS]
for data in (single, several):
    for options in (*map(str.split, OPTIONS.split("|")), *LEARNER):
        run("train", data, "-o", model, "--remember", "5", *options)
        run("predict", model, data, "--format", "jsonl")
        run("rank", model, data, "--format", "jsonl")
        run("explain", model, "a dog € 😀")
        run("evaluate", model, data)
        run("learn", model, data)
    run("tune", model, data, "--objective", "f1", "--calibrate", "isotonic")
    run("compare", data, "--learners", "arow,rocchio", "--folds", "2")
print(activity.compiled, activity.loaded)
"""


@pytest.mark.slow
def test_after_warm_up_nothing_is_compiled(tmp_path):
    """All learners and verbs; what is kept here already is copied first, to save time.

    Then all goes that warm-up itself did not use, and the folder is only read.
    """
    cache = copied(tmp_path / "cache")
    words = ("-m", "thresher", "warm-up", "--json")
    first, second = (start(*words, THRESHER_CACHE=str(cache)).communicate() for _ in range(2))
    assert (first[1], second[1]) == ("", "")
    (folder,) = (cache / "kernels").iterdir()
    (inventory,) = folder.glob("*.list")
    listed = json.loads(inventory.read_bytes()[_cache.DIGEST_BYTES :])
    assert json.loads(second[0]) | {"seconds": 0} == {
        "place": str(cache / "kernels"), "kernels": len(listed), "compiled": 0, "seconds": 0,
        "bytes": sum((folder / name).stat().st_size for name in listed),
    }  # fmt: skip
    for path in folder.glob("*.kernel"):
        if path.name not in listed:
            path.unlink()
    data = {}
    for name, n_labels in (("single", 1), ("several", 2)):
        data[name] = tmp_path / f"{name}.jsonl"
        lines = [one | {"labels": one["labels"][:n_labels]} for one in LINES]
        data[name].write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.chmod(folder, 0o555)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    process = start("-c", COMMANDS, *data.values(), tmp_path / "m", THRESHER_CACHE=str(cache))
    answer, complaint = process.communicate(timeout=300)
    assert process.returncode == 0, complaint
    compiled, loaded = map(int, answer.split())
    assert compiled == 0 and loaded > 30
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.slow
def test_warm_up_refuses_a_place_that_cannot_be_filled(tmp_path):
    (tmp_path / "file").touch()
    process = start("-m", "thresher", "warm-up", THRESHER_CACHE=str(tmp_path / "file"))
    answer, complaint = process.communicate(timeout=300)
    assert (process.returncode, answer) == (2, "")
    assert complaint.startswith(f"thresher: Compiled code cannot be kept: {tmp_path / 'file'}")
    assert complaint.count("\n") == 1
