"""The model file: what is written comes back, and nothing else is ever taken for a model."""

import itertools
import json
import os
import random
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import safe_open
from safetensors.numpy import load_file, save

from interrupts import interrupted_at
from thresher import files
from thresher.errors import ModelError, OutputError, ParameterError
from thresher.model import storage
from thresher.model.storage import read_model, write_model
from thresher.state import require_field, require_tensor

GOLDEN = Path(__file__).parents[1] / "golden" / "model-v1.thresher"
HEADER = {"learner": {"name": "winnow", "alpha": 1.5}, "categories": ["grain", "wéizen", "麦"]}
TENSORS = {
    "weights": np.arange(6, dtype=np.float32).reshape(2, 3),
    "words": np.frombuffer(b"oats", np.uint8),
    "offsets": np.array([0, 4], np.int64),
    "scale": np.array(0.5),
    "nothing": np.empty((0, 3), np.int32),
    "mask": np.array([True, False]),
}


def assert_same(read, header, tensors):
    assert read[0] == header
    assert read[1].keys() == tensors.keys()
    for name, array in tensors.items():
        np.testing.assert_array_equal(read[1][name], array)
        assert read[1][name].dtype == array.dtype
        assert read[1][name].shape == array.shape


def refusal(path):
    """Return the sentence with which the file is refused."""
    with pytest.raises(ModelError) as raised:
        read_model(path)
    sentence = str(raised.value)
    assert sentence.endswith(".") and "\n" not in sentence
    return sentence


def forge(path, layout, data=b"", text=None, **fields):
    """Write, by the module's description of the format alone, a file with right checksums."""
    text = text or json.dumps({"format_version": 1, "header": {}, "tensors": {}, **fields})
    signed = f"{zlib.crc32(text.encode()):08x} {text}"
    body = json.dumps({"__metadata__": {"thresher": signed}, **layout}, separators=(",", ":"))
    path.write_bytes(len(body).to_bytes(8, "little") + body.encode() + data)
    return path


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "a.thresher"
    write_model(path, HEADER, TENSORS)
    return path


# What is written comes back ----------------------------------------------------------------------

numbers = st.sampled_from(["?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"])
arrays = numbers.flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0, min_side=0)))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text(), anything, max_size=4), st.dictionaries(st.text(), arrays))
@settings(max_examples=60, deadline=None)
def test_any_model_comes_back(tmp_path_factory, header, tensors):
    path = tmp_path_factory.mktemp("models") / "any"
    write_model(path, header, tensors)
    assert_same(read_model(path), header, tensors)


def test_arrays_of_any_layout_come_back(tmp_path):
    tensors = {
        "transposed": np.arange(12.0).reshape(3, 4).T,
        "strided": np.arange(10)[::3],
        "reversed bytes": np.arange(4, dtype=">i4"),
    }
    write_model(tmp_path / "m", {}, tensors)
    read = read_model(tmp_path / "m")[1]
    for name, array in tensors.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].flags.writeable and read[name].flags.aligned


def test_what_was_read_may_be_changed(model):
    tensors = read_model(model)[1]
    for array in tensors.values():
        array[...] = 1
    assert all((array == 1).all() for array in tensors.values())
    assert_same(read_model(model), HEADER, TENSORS)


def test_equal_models_are_equal_bytes(tmp_path, model):
    write_model(tmp_path / "b", dict(reversed(HEADER.items())), dict(reversed(TENSORS.items())))
    assert (tmp_path / "b").read_bytes() == model.read_bytes()


@given(st.dictionaries(st.text(), arrays))
@settings(max_examples=60, deadline=None)
def test_the_bytes_are_those_of_the_safetensors_library(tmp_path_factory, tensors):
    path = tmp_path_factory.mktemp("models") / "any"
    write_model(path, HEADER, tensors)
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    assert path.read_bytes() == save(tensors, metadata)


def test_the_safetensors_library_opens_it(model):
    assert_same((HEADER, load_file(model)), HEADER, TENSORS)


def test_models_of_the_first_format_load_for_ever():
    header, tensors = read_model(GOLDEN)
    assert header["categories"] == ["grain", "wéizen", "麦"]
    assert header["learner"] == {"alpha": 1.5, "averaged": False, "limit": None, "name": "winnow"}
    assert bytes(tensors["words"]).decode() == "oats and straw"
    np.testing.assert_array_equal(tensors["weights"], np.arange(60.0).reshape(20, 3) / 8 - 3)
    for code in ["?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"]:
        array = tensors[f"as {np.dtype(code).name}"]
        np.testing.assert_array_equal(array, np.array([0, 1, 100]).astype(code))
        assert array.dtype == np.dtype(code)


@pytest.mark.parametrize(
    ("header", "tensors"),
    [
        ({"a": object()}, {}),
        ({"a": float("nan")}, {}),
        ({"a": {1, 2}}, {}),
        ({}, {"a": np.array(["text"])}),
        ({}, {"a": np.array([None])}),
        ({}, {"a": np.array([1j])}),
        ({}, {"__metadata__": np.zeros(1)}),
    ],
)
def test_what_a_model_cannot_hold_is_refused(model, header, tensors):
    before = model.read_bytes()
    with pytest.raises(ParameterError):
        write_model(model, header, tensors)
    assert model.read_bytes() == before


# Damage is told ----------------------------------------------------------------------------------


def test_every_cut_is_told(model):
    whole = model.read_bytes()
    for n in range(len(whole)):
        model.write_bytes(whole[:n])
        expected = "cut short" if n >= 8 else "is not a model of Thresher" if n else "is empty"
        assert expected in refusal(model)


def test_many_cuts_of_a_larger_file_are_told(tmp_path):
    path = tmp_path / "large"
    write_model(path, HEADER, {**TENSORS, "large": np.random.default_rng(0).random(200_000)})
    size = path.stat().st_size
    for n in sorted(random.Random(0).sample(range(size), 150), reverse=True):
        os.truncate(path, n)
        refusal(path)


def test_every_flipped_byte_is_told(model, tmp_path):
    whole, flipped = bytearray(model.read_bytes()), tmp_path / "flipped"
    for n in range(len(whole)):
        for mask in (0x01, 0x20, 0xFF):
            whole[n] ^= mask
            flipped.write_bytes(whole)
            refusal(flipped)
            whole[n] ^= mask


def test_bytes_appended_are_told(model):
    with open(model, "ab") as file:
        file.write(b"more")
    assert "lengthened" in refusal(model)


@pytest.mark.parametrize("mmap", [False, True])
def test_threads_that_read_pieces_notice_every_flipped_byte(model, monkeypatch, mmap):
    """As large models are read: by several threads, in many pieces of each tensor."""
    monkeypatch.setattr(storage, "BYTES_FOR_THREADS", 0)
    monkeypatch.setattr(storage, "PIECE_BYTES", 3)
    assert_same(read_model(model, mmap=mmap), HEADER, TENSORS)
    whole = bytearray(model.read_bytes())
    for n in range(len(whole)):
        changed = whole[:n] + bytes([whole[n] ^ 0x20]) + whole[n + 1 :]
        model.write_bytes(changed)
        refusal(model)


def test_a_file_cut_short_while_threads_read_it_is_told(model, monkeypatch):
    monkeypatch.setattr(storage, "BYTES_FOR_THREADS", 0)
    size = model.stat().st_size
    monkeypatch.setattr(storage, "_n_bytes", lambda file: size)
    os.truncate(model, size - 3)
    assert "cut short" in refusal(model)


def test_systems_without_positioned_reads_read_the_same(model, monkeypatch):
    monkeypatch.delattr(os, "preadv")
    monkeypatch.setattr(storage, "BYTES_FOR_THREADS", 0)
    assert_same(read_model(model), HEADER, TENSORS)


def test_a_model_larger_than_the_memory_is_told(tmp_path):
    """A sparse file takes no room on the disk, but would take its whole size in memory."""
    size = 2**42
    layout = one(dtype="U8", shape=(size,), data_offsets=(0, size))
    path = forge(tmp_path / "m", layout, tensors={"w": ["uint8", [size], 0]})
    try:
        os.truncate(path, path.stat().st_size + size)
    except OSError:
        pytest.skip("this file system has no files of 4 TB")
    assert "needs 4,096.0 GB of memory, and there are" in refusal(path)


@pytest.mark.parametrize("mmap", [False, True])
def test_a_sparse_file_is_refused_at_once(tmp_path, mmap):
    """It was never written, so its checksum need not be computed, which takes minutes."""
    size = 2**28
    layout = one(dtype="U8", shape=(size,), data_offsets=(0, size))
    path = forge(tmp_path / "m", layout, tensors={"w": ["uint8", [size], 0]})
    os.truncate(path, path.stat().st_size + size)
    if 512 * path.stat().st_blocks > size // 1000:
        pytest.skip("this file system has no sparse files")
    with pytest.raises(ModelError, match="of 256 MB, nearly all was never written"):
        read_model(path, mmap=mmap)


def test_too_little_memory_for_a_tensor_is_told(model, monkeypatch):
    def fail(*sizes):
        raise MemoryError

    monkeypatch.setattr(np, "empty", fail)
    assert "there is not enough memory for its" in refusal(model)


@pytest.mark.slow
def test_a_byte_of_the_header_swapped_for_another_is_told_or_changes_nothing(model):
    whole = bytearray(model.read_bytes())
    for n in range(8 + int.from_bytes(whole[:8], "little")):
        kept = whole[n]
        for whole[n] in set(b'\t"019FU') - {kept}:
            model.write_bytes(whole)
            try:
                assert_same(read_model(model), HEADER, TENSORS)
            except ModelError:
                continue
            assert (kept, whole[n]) == (ord(" "), ord("\t"))  # the padding after the layout
        whole[n] = kept


@pytest.mark.parametrize("dtype", ["F32", "BF16"])  # of which numpy knows but the first
def test_a_newer_format_asks_for_a_newer_thresher(tmp_path, dtype):
    layout = {"w": {"dtype": dtype, "shape": [0], "data_offsets": [0, 0]}}
    fields = {
        "format_version": 9,
        "thresher_version": "9.1",
        "header": "elsewhere",
        "tensors": None,
    }
    sentence = refusal(forge(tmp_path / "m", layout, **fields))
    assert "format 9" in sentence and "Thresher 9.1" in sentence and "Install a newer" in sentence


def one(dtype="F32", shape=(2,), data_offsets=(0, 8)):
    return {"w": {"dtype": dtype, "shape": shape, "data_offsets": data_offsets}}


DATA = np.array([1, 2], "f4").tobytes()


def test_a_forged_file_is_read_when_it_is_right(tmp_path):
    path = forge(tmp_path / "m", one(), DATA, tensors={"w": ["float32", [2], zlib.crc32(DATA)]})
    assert read_model(path)[1]["w"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "tensors",
    [
        {"w": ["int32", [2], zlib.crc32(DATA)]},
        {"w": ["float32", [1, 2], zlib.crc32(DATA)]},
        {"w": ["float32", [2], zlib.crc32(DATA) ^ 1]},
        {"v": ["float32", [2], zlib.crc32(DATA)]},
        {"w": ["float32", [2], zlib.crc32(DATA)], "v": ["float32", [0], 0]},
        {"w": None},
        {},
        None,
        [],
    ],
)
def test_tensors_other_than_those_told_of_are_told(tmp_path, tensors):
    assert "not those that were written" in refusal(
        forge(tmp_path / "m", one(), DATA, tensors=tensors)
    )


@pytest.mark.parametrize(
    "layout",
    [
        one(dtype="F128"),
        one(dtype=["F32"]),
        one(dtype="BF16", shape=(4,)),
        one(dtype="F8_E4M3", shape=(8,)),
        one(dtype="F4", shape=(16,)),
        one(dtype="C64", shape=(1,)),
        one(shape=(3,)),
        one(shape=(2.0,)),
        one(shape=(-2, -1)),
        one(shape=("x", 10**12)),
        one(shape=2),
        one(shape=(True, 2)),
        one(shape=[1] * 70 + [2]),
        one(shape=(10**9, 10**6), data_offsets=(0, 4 * 10**15)),
        {**one(), "v": one(shape=(0, 2**47, 2**47), data_offsets=(8, 8))["w"]},
        one(data_offsets=(8, 16)),
        one(data_offsets=(0, 8, 8)),
        one(data_offsets=None),
        {"w": None},
        {"w": []},
        {**one(), "v": one()["w"]},
        {},
    ],
)
def test_a_lying_layout_is_told_and_costs_no_memory(tmp_path, layout):
    tracemalloc.start()
    try:
        assert "damaged" in refusal(forge(tmp_path / "m", layout, DATA))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "{", '"x"', "[" * 100_000, '{"format_version": %s}' % ("9" * 5000)],
)
def test_a_header_of_nonsense_is_told(tmp_path, text):
    assert "damaged" in refusal(forge(tmp_path / "m", {}, text=text or " "))


@pytest.mark.parametrize("fields", [{"format_version": v} for v in (0, -1, None, "1", 1.0, True)])
def test_a_version_that_is_none_is_told(tmp_path, fields):
    assert "damaged" in refusal(forge(tmp_path / "m", {}, **fields))


def test_a_length_that_lies_is_told(model):
    whole = model.read_bytes()
    for length in (0, 10, 36, 37, 10**6, 10**10, 2**63, 2**64 - 1):
        model.write_bytes(length.to_bytes(8, "little") + whole[8:])
        assert "damaged" in refusal(model)


# Other files are not taken for models -------------------------------------------------------------


def test_foreign_files_are_told(tmp_path):
    path = tmp_path / "foreign"
    contents = {
        "text": b"grain,oats and straw\n" * 9,
        "short": b"\0",
        "picture": b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(99),
        "safetensors": save({"w": np.zeros(2)}),
        "safetensors with metadata": save({"w": np.zeros(2)}, {"format": "pt"}),
        "noise": random.Random(0).randbytes(500),
    }
    for content in contents.values():
        path.write_bytes(content)
        assert "is not a model of Thresher" in refusal(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "oats")
    assert "is not a model of Thresher" in refusal(path)


def test_what_is_no_file_is_told(tmp_path):
    (tmp_path / "empty").touch()
    assert "is empty" in refusal(tmp_path / "empty")
    assert "There is no model file" in refusal(tmp_path / "missing")
    assert "is not a file" in refusal(tmp_path)
    assert "cannot be read" in refusal(tmp_path / "empty" / "m")
    assert "cannot be read" in refusal("a\0b")
    os.mkfifo(tmp_path / "pipe")
    assert "is not a file" in refusal(tmp_path / "pipe")


# Saving is all or nothing -------------------------------------------------------------------------


def refused(path):
    with pytest.raises(OutputError) as raised:
        write_model(path, HEADER, TENSORS)
    return str(raised.value)


def test_places_that_cannot_be_written_are_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    os.symlink("loop", tmp_path / "loop")
    os.symlink("/dev/null", tmp_path / "device")
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(tmp_path)
        listening.bind("socket")
    before = sorted(os.listdir(tmp_path))
    for path, reason in {
        "": "'' cannot be written: the name is empty; name a file.",
        tmp_path: "it is a folder; name a file in it",
        f"{tmp_path}/new/": "it is a folder; name a file in it",
        tmp_path / "missing" / "m": "missing does not exist; make it first",
        tmp_path / "file" / "m": "file is a file, not a folder",
        tmp_path / ("m" * 300): "File name too long",
        tmp_path / "loop": "it is a link in a circle",
        "a\0b": "embedded null",
        **dict.fromkeys(
            ["/dev/null", "/dev/full", tmp_path / "device", tmp_path / "pipe", tmp_path / "socket"],
            "it is a device, a pipe or a socket, not a file",
        ),
    }.items():
        assert reason in refused(path)
    assert sorted(os.listdir(tmp_path)) == before


def test_standard_output_is_no_place_for_a_model(tmp_path):
    """Whatever it is, a pipe or a file: the latter is replaced as any other."""
    assert "not a file" in run(SAVE, "/dev/stdout", "")
    with open(tmp_path / "m", "wb") as output:
        subprocess.run([sys.executable, "-c", SAVE, "/dev/stdout", ""], stdout=output, check=True)
    assert read_model(tmp_path / "m")[1]["w"].size == 100_000


def test_a_folder_that_is_gone_is_told(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    with (
        pytest.raises(OutputError, match="m cannot be written: Not a directory"),
        files.replace_file(gone / "m") as temporary,
    ):
        temporary.unlink()
        gone.rmdir()
        gone.write_text("a file in its place")
    assert "No such file or directory" in refused("m")
    assert gone.read_text() == "a file in its place"


@pytest.mark.parametrize("character", ["m", "é", "麦", "\U0001f33e"])
def test_the_longest_name_can_be_written(tmp_path, character):
    path = tmp_path / (character * (255 // len(character.encode())))
    for n in range(2):
        write_model(path, {"n": n}, TENSORS)
    with files.one_writer(path, print) as target:
        assert target == path and len(os.listdir(tmp_path)) == 2
    assert_same(read_model(path), {"n": 1}, TENSORS)
    assert os.listdir(tmp_path) == [path.name]


def test_another_name_of_the_file_keeps_the_old_content(model, tmp_path):
    os.link(model, tmp_path / "another")
    write_model(model, {"n": 1}, {})
    assert_same(read_model(tmp_path / "another"), HEADER, TENSORS)
    assert read_model(model)[0] == {"n": 1}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to others")
def test_the_owner_of_a_file_stays_where_that_is_allowed(model):
    os.chown(model, 65534, 65534)
    write_model(model, {"n": 1}, {})
    assert (model.stat().st_uid, model.stat().st_gid) == (65534, 65534)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_what_belongs_to_somebody_else_in_a_shared_folder_is_told():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        write_model(path, HEADER, TENSORS)
        os.chmod(folder, 0o1777)
        os.chmod(path, 0o666)
        assert "only owners replace their files" in run(SAVE, path, "as nobody")
        assert_same(read_model(path), HEADER, TENSORS)
        assert os.listdir(folder) == ["m"]


def run(script, *arguments, **how):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, **how).stdout


SAVE = """
import os, sys
import numpy as np
from thresher.errors import OutputError
from thresher.model.storage import write_model
if os.getuid() == 0 and sys.argv[2] == "as nobody":
    os.setgid(65534), os.setuid(65534)
try:
    write_model(sys.argv[1], {}, {"w": np.zeros(100_000)})
except OutputError as error:
    print(error)
"""


def test_a_folder_without_the_right_to_write_is_told():
    with tempfile.TemporaryDirectory() as folder:  # not tmp_path, which another user cannot reach
        os.chmod(folder, 0o755)
        (Path(folder) / "locked").mkdir(mode=0o555)
        path = Path(folder) / "locked" / "m"
        assert run(SAVE, path, "as nobody").strip() == (
            f"{path} cannot be written: the folder {path.parent} is write-protected."
        )


def test_a_write_protected_model_is_told():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        path = Path(folder) / "m"
        write_model(path, HEADER, TENSORS)
        os.chmod(path, 0o444)
        assert "it is write-protected" in run(SAVE, path, "as nobody")
        assert_same(read_model(path), HEADER, TENSORS)


def test_a_full_disk_leaves_the_old_model(model):
    """The system refuses the file's 100,001st byte (RLIMIT_FSIZE), as a full disk does."""
    limit = (100_000, 100_000)
    printed = run(
        SAVE, model, "", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )
    assert printed.strip() == f"{model} cannot be written: File too large."
    assert_same(read_model(model), HEADER, TENSORS)
    assert os.listdir(model.parent) == [model.name]


def test_a_disk_that_is_really_full_leaves_the_old_model(model):
    """A file system of 100 kB, where the system lets us make one."""
    disk = model.parent / "disk"
    disk.mkdir()
    mount = 'mount -t tmpfs -o size=100k none "$1" && '
    own = ["unshare", "-rm", "sh", "-c"]
    if subprocess.run([*own, mount + "true", "sh", disk], capture_output=True).returncode:
        pytest.skip("the system allows no file system of one's own")
    steps = 'cp "$2" "$1/m" && "$3" -c "$4" "$1/m" "" && cp "$1/m" "$2" && ls -A "$1"'
    command = [*own, mount + steps, "sh", disk, model, sys.executable, SAVE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    sentence, *left = done.stdout.splitlines()
    assert sentence.endswith("No space left on device.")
    assert left == ["m"]
    assert_same(read_model(model), HEADER, TENSORS)


def test_permissions_are_kept_and_new_files_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_model(tmp_path / "m", HEADER, TENSORS)
    finally:
        os.umask(before)
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o640
    os.chmod(tmp_path / "m", 0o600)
    write_model(tmp_path / "m", {}, {})
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o600


def test_a_writer_that_fails_leaves_what_was_there(tmp_path):
    (tmp_path / "page").write_text("old")
    for error, seen in [(ZeroDivisionError, ZeroDivisionError), (OSError("torn"), OutputError)]:
        with pytest.raises(seen), files.replace_file(tmp_path / "page") as temporary:
            temporary.write_text("new")
            raise error
        assert os.listdir(tmp_path) == ["page"] and (tmp_path / "page").read_text() == "old"


def test_links_are_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/m")
    for header in ({"n": 1}, {"n": 2}):
        write_model(tmp_path / "link", header, {})
        assert (tmp_path / "link").is_symlink()
        assert read_model(tmp_path / "folder" / "m")[0] == header


# One child after the other dies at the next line of ours that a save comes to, until a save
# comes to its end; after each death the file must be the old model or the new one.
DIE_AT_EACH_LINE = """
import os, signal, sys
import numpy as np
from thresher import files
from thresher.model import storage

OLD, NEW = np.zeros(50_000), np.ones(60_000)

def die_at(line):
    left = line
    def trace(frame, event, argument):
        nonlocal left
        if frame.f_code.co_filename not in (storage.__file__, files.__file__):
            return None
        left -= event == "line"
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace
    return trace

line, olds, news, died = 0, 0, 0, True
while died:
    line += 1
    storage.write_model(sys.argv[1], {"n": 0}, {"w": OLD})
    child = os.fork()
    if not child:
        sys.settrace(die_at(line))
        storage.write_model(sys.argv[1], {"n": 1}, {"w": NEW})
        os._exit(0)
    died = os.waitpid(child, 0)[1] == signal.SIGKILL
    header, tensors = storage.read_model(sys.argv[1])
    assert np.array_equal(tensors["w"], NEW if header["n"] else OLD)
    olds, news = olds + (not header["n"]), news + header["n"]
print(olds, news)
"""


@pytest.mark.slow
def test_dying_at_any_line_of_a_save_leaves_the_old_model_or_the_new(tmp_path):
    olds, news = map(int, run(DIE_AT_EACH_LINE, tmp_path / "m").split())
    assert olds > 30 and news > 3


SAVE_FOR_EVER = """
import itertools, sys
import numpy as np
from thresher.model.storage import write_model
for n in itertools.count():
    write_model(sys.argv[1], {"n": n}, {"w": np.full(200_000, n)})
    if not n:
        print("saved", flush=True)
"""


@pytest.mark.slow
def test_being_killed_at_random_leaves_a_whole_model(tmp_path):
    chance = random.Random(0)
    for _ in range(8):
        saver = subprocess.Popen(
            [sys.executable, "-c", SAVE_FOR_EVER, tmp_path / "m"], stdout=subprocess.PIPE
        )
        saver.stdout.readline()
        time.sleep(chance.random() / 10)
        saver.kill()
        saver.communicate()
        header, tensors = read_model(tmp_path / "m")
        np.testing.assert_array_equal(tensors["w"], np.full(200_000, header["n"]))


def test_an_interrupt_at_any_line_leaves_no_temporary_file(tmp_path):
    path = tmp_path / "m"
    for line in itertools.count(1):
        write_model(path, {"n": 0}, TENSORS)
        with interrupted_at(line, storage, files) as came:
            write_model(path, {"n": 1}, TENSORS)
        if not came:
            break
        assert os.listdir(tmp_path) == ["m"]
        assert read_model(path)[0]["n"] in (0, 1)
    assert line > 50


# What a station asks of its part of a model -------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype", "shape", "bounds", "sentence"),
    [
        ("bias", np.float32, (2, 3), {}, "lacks the tensor 'bias'"),
        ("weights", np.float64, (2, 3), {}, "holds float32; float64 belongs there"),
        ("weights", np.float32, (3, 2), {}, "has the shape 2 x 3; it must be 3 x 2"),
        ("weights", np.float32, (None, 4), {}, "must be any x 4"),
        ("weights", np.float32, (None,), {}, "must be any."),
        ("scale", np.float64, (1,), {}, "has the shape a single number"),
        ("weights", np.float32, (2, 3), {"low": 1}, "holds 0.0; values from 1"),
        ("weights", np.float32, (2, 3), {"high": 4}, "holds 5.0; values up to 4"),
        ("unknown", np.float32, (2,), {"low": 0}, "holds nan"),
        ("unknown", np.float32, (2,), {"high": 9}, "holds nan"),
        ("unknown", np.float32, (None,), {"finite": True}, "holds nan; finite values"),
        ("endless", np.float64, (None,), {"finite": True}, "holds -inf; finite values"),
    ],
)
def test_a_tensor_that_is_not_as_it_must_be_is_told(name, dtype, shape, bounds, sentence):
    tensors = {**TENSORS, "unknown": np.array([1, np.nan], np.float32)}
    tensors["endless"] = np.array([1, -np.inf])
    with pytest.raises(ModelError, match=re.escape(sentence)):
        require_tensor(tensors, name, dtype, shape, **bounds)


def test_a_tensor_that_is_as_it_must_be_is_returned():
    got = require_tensor(TENSORS, "weights", np.float32, (None, 3), low=0, high=5)
    assert got is TENSORS["weights"]
    assert require_tensor(TENSORS, "nothing", np.int32, (0, 3), low=0, high=5).size == 0
    for name, array in TENSORS.items():  # booleans, whole numbers and none at all are finite
        assert require_tensor(TENSORS, name, array.dtype, array.shape, finite=True) is array


def test_a_field_is_of_its_type_or_told():
    header = {"n": 3, "on": True, "name": None}
    assert require_field(header, "n", int) == 3
    assert type(require_field(header, "n", float)) is float
    for name, kind in [("on", int), ("n", bool), ("name", str), ("missing", dict)]:
        with pytest.raises(ModelError, match=f"'{name}'.*must be an? {kind.__name__}"):
            require_field(header, name, kind)


# ---- the narrowest types -------------------------------------------------------------------------

WIDE = {
    "halves": (np.array([0.5, -65504, 2**-24, -0.0]), "float16"),
    "singles": (np.array([0.1, 1e30], np.float32).astype(np.float64), "float32"),
    "doubles": (np.array([0.1]), "float64"),
    "not-finite": (np.array([np.inf, -np.inf], np.float32), "float16"),
    "bytes": (np.array([[0, 255]], np.int64), "uint8"),
    "signed": (np.array([-1, 127]), "int8"),
    "words": (np.array([300], np.int32), "uint16"),
    "whole": (np.array([2**31], np.int64), "uint32"),
    "as-wide": (np.array([2**20], np.int32), "int32"),
    "widest": (np.array([-(2**40)]), "int64"),
    "unsigned": (np.array([2**63], np.uint64), "uint64"),
    "empty": (np.zeros((0, 3), np.int32), "int32"),
    "mask": (np.array([True]), "bool"),
    "scalar": (np.array(7, np.int64), "uint8"),
}


def test_narrow_tensors_are_read_as_they_were_given(tmp_path):
    path, tensors = tmp_path / "m", {name: array for name, (array, _) in WIDE.items()}
    write_model(path, HEADER, tensors, narrow=True)
    assert_same(read_model(path), HEADER, tensors)
    with safe_open(path, framework="numpy") as file:
        description = json.loads(file.metadata()["thresher"].partition(" ")[2])
    assert description["format_version"] == 3
    for name, (array, stored) in WIDE.items():
        assert description["tensors"][name][0::3] == [stored, array.dtype.name]


def test_an_older_thresher_says_that_it_is_too_old(tmp_path, monkeypatch):
    write_model(tmp_path / "m", HEADER, {"w": np.array([1.0])}, narrow=True)
    monkeypatch.setattr("thresher.model.storage.NEWEST_VERSION", 2)
    assert "is of format 3" in refusal(tmp_path / "m")


@pytest.mark.parametrize("kind", ["float16", "int32", "bool", "object", "S9", None, 4, ["float64"]])
def test_what_is_read_in_another_type_must_fit_there(tmp_path, kind):
    tensors = {"w": ["float32", [2], zlib.crc32(DATA), kind]}
    path = forge(tmp_path / "m", one(), DATA, tensors=tensors, format_version=3)
    assert "not of the types" in refusal(path)


@pytest.mark.parametrize(
    "written", [["float32", [2], zlib.crc32(DATA)], [], "float32", None, {"float32": 2}]
)
def test_a_type_to_be_read_in_is_said_of_every_narrow_tensor(tmp_path, written):
    path = forge(tmp_path / "m", one(), DATA, tensors={"w": written}, format_version=3)
    assert "not those that were written" in refusal(path)


def test_formats_before_have_no_narrow_tensors(tmp_path):
    tensors = {"w": ["float32", [2], zlib.crc32(DATA), "float64"]}
    path = forge(tmp_path / "m", one(), DATA, tensors=tensors, format_version=2)
    assert "not those that were written" in refusal(path)
