"""Corpora found, downloaded, resumed, verified; archives that mean harm."""

import contextlib
import gzip
import hashlib
import io
import resource
import socket
import socketserver
import tarfile
import threading
import tracemalloc
import urllib.request
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from archives import write_tar, write_zip
from thresher import corpora
from thresher.corpora import Corpus, Split, _archive, _download, _fetch, fetch, load
from thresher.corpora._registry import CorpusInfo, File, Form, parse_options
from thresher.errors import DocumentError


@pytest.mark.parametrize("name", ["a.tar.gz", "a.tar.xz", "a.zip"])
def test_archive_is_read_in_place(tmp_path, name):
    files = {"./deep/one.txt": b"1", "deep/two.txt": b"2", "deep/skip.md": b"3"}
    write = write_zip if name.endswith("zip") else write_tar
    path = write(tmp_path / name, files)
    assert [content for _, content in _archive.members(path, r"\.txt$")] == [b"1", b"2"]
    assert sorted(tmp_path.iterdir()) == [path]


ESCAPES = {
    "tar": ("a.tar.gz", {"../out.txt": b"x"}, ()),
    "tar from the root": ("a.tar.gz", {"/etc/out.txt": b"x"}, ()),
    "tar on the way": ("a.tar.gz", {"a/../../out.txt": b"x"}, ()),
    "symbolic link": ("a.tar.gz", {}, [("a/link", "../../out", tarfile.SYMTYPE)]),
    "link to the root": ("a.tar.gz", {}, [("a/link", "/etc", tarfile.SYMTYPE)]),
    "hard link": ("a.tar.gz", {}, [("a/link", "../out", tarfile.LNKTYPE)]),
    "zip": ("a.zip", {"../out.txt": b"x"}, ()),
    "zip with a drive": ("a.zip", {"C:\\out.txt": b"x"}, ()),
    "zip with backslashes": ("a.zip", {"..\\out.txt": b"x"}, ()),
}


@pytest.mark.parametrize("name, files, links", ESCAPES.values(), ids=ESCAPES)
def test_archive_that_would_write_outside_its_folder_is_refused(tmp_path, name, files, links):
    path = tmp_path / "folder" / name
    path.parent.mkdir()
    write_zip(path, files) if name.endswith("zip") else write_tar(path, files, links)
    with pytest.raises(DocumentError, match=r"would write outside its folder: .*points to"):
        list(_archive.members(path))
    assert sorted(tmp_path.rglob("*")) == [path.parent, path]


def test_links_inside_the_folder_do_no_harm(tmp_path):
    link = ("a/b/link", "../one", tarfile.SYMTYPE)
    path = write_tar(tmp_path / "a.tar.gz", {"a/one": b"1"}, [link])
    assert list(_archive.members(path)) == [("a/one", b"1")]


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"<html>" + b, bytes])
def test_damaged_archive_is_told(tmp_path, damage):
    path = write_tar(tmp_path / "a.tar.gz", {f"{i}.txt": b"wheat" * 99 * i for i in range(99)})
    path.write_bytes(b"" if damage is bytes else damage(path.read_bytes()))
    with pytest.raises(DocumentError, match=r"a\.tar\.gz is damaged or not what it should be"):
        list(_archive.members(path))


def test_packing_again_keeps_the_digest_of_the_contents(tmp_path):
    files = {"x/docs/1": b"one", "x/docs/2": b"two"}
    pattern = r"(docs/\d)$"

    def digest(path):
        return _archive.digest_of_members(_archive.members(path, pattern), pattern)

    first = digest(write_tar(tmp_path / "a.tar.gz", files))
    moved = {"y/readme": b"!", "y/docs/2": b"two", "y/docs/1": b"one"}
    assert digest(write_zip(tmp_path / "a.zip", moved)) == first
    assert digest(write_tar(tmp_path / "b.tar.xz", {**files, "x/docs/2": b"too"})) != first
    assert digest(write_tar(tmp_path / "c.tar.xz", {"x/docs/1": b"one"})) != first


def test_digest_of_a_table_ignores_remarks_and_ends_of_lines():
    table = b"1, a\n2, b\n"
    assert _archive.digest_of_lines(b"|remark\r\n1, a\r\n2, b \r\n\r\n") == (
        _archive.digest_of_lines(table)
    )
    assert _archive.digest_of_lines(b"2, b\n1, a\n") != _archive.digest_of_lines(table)


TABLE = b"".join(b"%d,yes\n" % i for i in range(20_000))
PACKED = gzip.compress(TABLE, mtime=0)


def read_table(paths, variant):
    lines = _archive.read_bytes(paths[0]).splitlines()
    return Corpus({"all": Split([line.decode() for line in lines], [[] for _ in lines], ["1"])})


def table_info(url=None, *, sha256=True, size=True):
    known = hashlib.sha256(PACKED).hexdigest() if sha256 else None
    form = Form("table.csv.gz", url, len(PACKED) if size else None, known)
    plain = Form("table.csv", None, len(TABLE), hashlib.sha256(TABLE).hexdigest())
    file = File("toys", (form, plain), _archive.digest_of_lines(TABLE))
    counts = {"all": {"all": 20_000}}
    return CorpusInfo(
        "toy", "A toy", ".", "http://toys.example/", ".", ".", (file,), counts, read_table
    )


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Give an empty data folder and an empty cache."""
    monkeypatch.setenv("THRESHER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    (tmp_path / "data" / "toys").mkdir(parents=True)
    return tmp_path / "data" / "toys", tmp_path / "cache" / "toys"


class Server(BaseHTTPRequestHandler):
    """Serves one file; breaks off, refuses ranges or lies as it is told."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append(self.headers.get("Range"))
        content, start = self.server.content, 0
        if content is None:
            return self.send_error(404)
        if self.server.ranges and (asked := self.headers.get("Range")):
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            if start >= len(content):
                return self.send_error(416)
            self.send_response(206)
            first = start + self.server.shift
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = self.server.cuts.pop(0) if self.server.cuts else len(content)
        self.wfile.write(content[start:end])


@contextmanager
def serving(server):
    """Let a server answer in a thread of its own."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()


@contextmanager
def serve(content, *, ranges=True, cuts=(), shift=0):
    """Serve a file at an address of this machine; `cuts` are the places where it breaks off."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        server.content, server.ranges, server.shift = content, ranges, shift
        server.cuts, server.asked = list(cuts), []
        server.url = f"http://127.0.0.1:{server.server_port}/table.csv.gz"
        with serving(server):
            yield server


def test_download_goes_to_the_cache_and_is_found_there(places):
    _, cached = places
    calls = []
    with serve(PACKED) as server:
        info = table_info(server.url)
        path = fetch(info, progress=lambda *n: calls.append(n))[0]
        assert fetch(info) == [path] == [cached / "table.csv.gz"]
        assert server.asked == [None]
    assert path.read_bytes() == PACKED and list(cached.iterdir()) == [path]
    assert calls[-1] == (len(PACKED), len(PACKED)) and sorted(calls) == calls
    assert corpora.is_here(info)


def test_data_folder_is_looked_into_before_the_cache(places):
    data, cached = places
    cached.mkdir(parents=True)
    (cached / "table.csv.gz").write_bytes(PACKED)
    assert fetch(table_info()) == [cached / "table.csv.gz"]
    (data / "table.csv").write_bytes(TABLE)
    assert fetch(table_info()) == [data / "table.csv"]


def test_download_that_broke_off_is_resumed(places):
    with serve(PACKED, cuts=[1_000, 5_000]) as server:
        path = fetch(table_info(server.url))[0]
        assert server.asked == [None, "bytes=1000-", "bytes=5000-"]
    assert path.read_bytes() == PACKED


def test_download_is_resumed_by_the_next_fetch(places):
    _, cached = places
    with serve(PACKED, cuts=[1_000, 1_000, 1_000]) as server:
        with pytest.raises(DocumentError, match=r"broke off after 1,000 of [\d,]+ bytes") as caught:
            fetch(table_info(server.url))
        assert f"continues with {cached / 'table.csv.gz.part'}" in str(caught.value)
        assert fetch(table_info(server.url))[0].read_bytes() == PACKED
        assert server.asked[-1] == "bytes=1000-"
    assert [path.name for path in cached.iterdir()] == ["table.csv.gz"]


def test_server_that_refuses_ranges_sends_it_all(places):
    _, cached = places
    cached.mkdir(parents=True)
    (cached / "table.csv.gz.part").write_bytes(PACKED[:700])
    with serve(PACKED, ranges=False) as server:
        assert fetch(table_info(server.url))[0].read_bytes() == PACKED
        assert server.asked == ["bytes=700-"]


def test_partial_file_that_is_too_long_is_begun_again(places):
    _, cached = places
    cached.mkdir(parents=True)
    (cached / "table.csv.gz.part").write_bytes(PACKED + b"more")
    with serve(PACKED) as server:
        assert fetch(table_info(server.url))[0].read_bytes() == PACKED
        assert server.asked == [None]
    (cached / "table.csv.gz").unlink()
    (cached / "table.csv.gz.part").write_bytes(PACKED + b"more")
    with serve(PACKED) as server:  # the size is not known
        assert fetch(table_info(server.url, size=False))[0].read_bytes() == PACKED
        assert server.asked == [f"bytes={len(PACKED) + 4}-", None]


def test_server_that_sends_another_part_is_asked_again_from_the_start(places):
    _, cached = places
    cached.mkdir(parents=True)
    (cached / "table.csv.gz.part").write_bytes(PACKED[:700])
    with serve(PACKED, shift=1) as server:
        assert fetch(table_info(server.url))[0].read_bytes() == PACKED
        assert server.asked == ["bytes=700-", None]


@pytest.mark.parametrize(
    "content",
    [gzip.compress(b"0,no\n"), b"<html>Sorry</html>", b""],
    ids=["another", "a page", "nothing"],
)
def test_wrong_download_is_refused_and_not_kept(places, content):
    _, cached = places
    with serve(content) as server, pytest.raises(DocumentError) as caught:
        fetch(table_info(server.url, size=False))
    assert str(caught.value).startswith(f"The download from {server.url} was refused: ")
    assert list(cached.iterdir()) == []


def test_partial_file_of_another_version_is_refused_once(places):
    _, cached = places
    cached.mkdir(parents=True)
    (cached / "table.csv.gz.part").write_bytes(b"?" * 700)
    with serve(PACKED) as server:
        with pytest.raises(DocumentError, match="was refused"):
            fetch(table_info(server.url))
        assert fetch(table_info(server.url))[0].read_bytes() == PACKED


def test_what_is_packed_otherwise_is_accepted_from_a_folder_and_not_from_the_net(places):
    """Nothing from the net is unpacked before its checksum is right."""
    data, _ = places
    again = gzip.compress(b"| remark\n" + TABLE + b"\n", 1)
    with serve(again) as server, pytest.raises(DocumentError, match="was refused"):
        fetch(table_info(server.url, size=False))
    (data / "table.csv.gz").write_bytes(again)
    assert fetch(table_info()) == [data / "table.csv.gz"]


def test_an_archive_without_a_checksum_is_not_downloaded(places):
    with serve(PACKED) as server, pytest.raises(DocumentError) as caught:
        fetch(table_info(server.url, sha256=False))
    assert f"no checksum is known to verify {server.url}" in str(caught.value)
    assert f"Take table.csv.gz or table.csv from {server.url} and put it" in str(caught.value)
    assert server.asked == []


def test_a_plain_table_is_known_by_its_lines(places):
    with serve(b"| remark\n" + TABLE) as server:
        info = table_info()
        (file,) = info.files
        info = replace(info, files=(replace(file, forms=(Form("table.csv", server.url),)),))
        assert fetch(info)[0].read_bytes() == b"| remark\n" + TABLE


def test_every_archive_that_is_downloaded_has_a_checksum():
    for info in corpora.list_corpora():
        for file in info.files:
            for form in file.forms:
                known = form.sha256 or (file.members is None and not form.name.endswith(".gz"))
                assert file.may_download(form) == bool(form.url and known), form
                assert form.size is None or form.sha256


def test_what_stands_in_several_folders_may_not_count(tmp_path):
    pattern = r"(docs/\w/\d)$"
    files = {"docs/a/1": b"one", "docs/b/2": b"two"}
    several = {**files, "docs/a/3": b"three", "docs/b/3": b"three"}
    paths = [write_tar(tmp_path / f"{i}.tar.gz", item) for i, item in enumerate((files, several))]
    plain, alone = (
        [
            _archive.digest_of_members(_archive.members(path, pattern), pattern, alone=alone)
            for path in paths
        ]
        for alone in (False, True)
    )
    assert plain[0] == alone[0] == alone[1] != plain[1]


# Hostile servers ----------------------------------------------------------------------------------


class Reply(socketserver.StreamRequestHandler):
    """Sends what it is told, byte for byte, and hangs up."""

    def handle(self):
        lines = iter(self.rfile.readline, b"\r\n")
        self.server.asked.append(next((line for line in lines if line.startswith(b"Range")), None))
        list(lines)
        replies = self.server.replies
        with contextlib.suppress(OSError):  # who asked may have hung up
            self.wfile.write(replies.pop(0) if len(replies) > 1 else replies[0])


@contextmanager
def reply(*replies):
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Reply) as server:
        server.replies, server.asked, server.daemon_threads = list(replies), [], True
        server.url = f"http://127.0.0.1:{server.server_address[1]}/table.csv.gz"
        with serving(server):
            yield server


N = len(PACKED)


def answer(*headers, status="200 OK", body=PACKED):
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode("latin-1") + body


HOSTILE = {
    "negative length": (answer("Content-Length: -5"), "says that it has '-5' bytes"),
    "length in words": (answer("Content-Length: many"), "says that it has 'many' bytes"),
    "endless length": (answer(f"Content-Length: {10**40}"), "says that it has '1000"),
    "large length": (answer(f"Content-Length: {10**12}"), "it has 1,000,000,000,000 bytes, and"),
    "small length": (answer("Content-Length: 7"), "it has 7 bytes, and"),
    "cut short": (answer(f"Content-Length: {N}", body=PACKED[:9]), "broke off after 9 of"),
    "more than said": (answer(body=PACKED + b"more"), f"sent more than {N:,} bytes"),
    "a part": (answer(f"Content-Range: bytes 0-{N - 1}/{N}", status="206 Part"), "answered 206"),
    "nothing": (answer(status="204 No Content", body=b""), "answered 204, which was not"),
    "packed": (answer("Content-Encoding: gzip"), "compressed it"),
    "broken chunks": (answer("Transfer-Encoding: chunked", body=b"zz\r\nab"), "failed: "),
    "cut chunks": (answer("Transfer-Encoding: chunked", body=b"9\r\nab"), "failed: "),
    "many headers": (answer(*(f"X-{i}: y" for i in range(999))), "more than 100 headers"),
    "long header": (answer("X: " + "y" * 99_999), "header line"),
    "no http": (b"SSH-2.0-OpenSSH\r\n", "failed: "),
    "silence": (b"", "failed: "),
    "to http": (answer("Location: http://127.0.0.1:9/", status="302 Found"), "which is not https"),
    "to a file": (answer("Location: file:///etc/passwd", status="301 Moved"), "is not allowed"),
    "to nowhere": (answer("Location: //", status="307 Elsewhere"), "failed: "),
    "lines in a reason": (answer(status="500 a\x0bb\tc", body=b""), "answered 500"),
}


@pytest.mark.parametrize(("sent", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_server_gets_a_sentence(places, sent, reason):
    _, cached = places
    with reply(sent) as server, pytest.raises(DocumentError) as caught:
        fetch(table_info(server.url))
    assert reason in str(caught.value) and str(caught.value).isprintable()
    assert not (cached / "table.csv.gz").exists()
    assert all(path.stat().st_size <= N for path in cached.iterdir())


RANGES = {
    "another start": f"bytes 8-{N - 1}/{N}",
    "another end": f"bytes 9-{N}/{N}",
    "another total": f"bytes 9-{N - 1}/{N + 1}",
    "no total": f"bytes 9-{N - 1}/*",
    "negative": f"bytes -9-{N - 1}/{N}",
    "words": "bytes some/all",
    "none": "",
}


@pytest.mark.parametrize("sent", RANGES.values(), ids=RANGES)
def test_a_part_that_was_not_asked_for_is_thrown_away(places, sent):
    _, cached = places
    cached.mkdir(parents=True)
    (cached / "table.csv.gz.part").write_bytes(PACKED[:9])
    partial = answer(f"Content-Range: {sent}", status="206 Partial Content", body=PACKED[9:])
    with reply(partial, answer()) as server:
        assert fetch(table_info(server.url))[0].read_bytes() == PACKED
        assert server.asked == [b"Range: bytes=9-\r\n", None]


def test_a_server_that_trickles_is_left(places, monkeypatch):
    monkeypatch.setattr(_download, "RATE_TIME", 1e-9)
    monkeypatch.setattr(_download, "LEAST_RATE", 10**18)
    with (
        serve(PACKED) as server,
        pytest.raises(DocumentError, match=r"less than 1,000,0.* bytes a sec"),
    ):
        fetch(table_info(server.url))


def test_redirects_end_and_go_to_https():
    handler, request = _download._ToHttps(), urllib.request.Request("https://a.example/b")
    for url in ("https://c.example/d", "HTTPS://c.example/d"):
        onwards = handler.redirect_request(request, io.BytesIO(), 302, "", {}, url)
        assert onwards.full_url == url
    assert handler.max_redirections == 5


def test_a_download_that_was_complete_asks_for_nothing(places):
    """As when the process was stopped between the last byte and the checksum."""
    _, cached = places
    cached.mkdir(parents=True)
    (cached / "table.csv.gz.part").write_bytes(PACKED)
    with reply(b"") as server:
        assert fetch(table_info(server.url))[0].read_bytes() == PACKED
        assert server.asked == []


def test_an_interrupt_keeps_what_came(places):
    _, cached = places

    def stop(done, total):
        raise KeyboardInterrupt

    with serve(PACKED) as server:
        with pytest.raises(KeyboardInterrupt):
            fetch(table_info(server.url), progress=stop)
        partial_file = cached / "table.csv.gz.part"
        assert PACKED.startswith(partial_file.read_bytes()) and [*cached.iterdir()] == [
            partial_file
        ]
        assert fetch(table_info(server.url))[0].read_bytes() == PACKED


def test_a_full_disk_is_told_and_what_came_is_kept(places):
    """The system refuses the file's 1,001st byte (RLIMIT_FSIZE), as a full disk does."""
    partial_file = places[1] / "table.csv.gz.part"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with serve(PACKED) as server:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
        try:
            with pytest.raises(DocumentError, match=r"failed: File too large.*continues with"):
                fetch(table_info(server.url))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert partial_file.read_bytes() == PACKED[:1_000]
        assert fetch(table_info(server.url))[0].read_bytes() == PACKED


def test_two_fetches_at_once_download_once(places):
    paths = []
    with serve(PACKED) as server:
        info = table_info(server.url)
        threads = [threading.Thread(target=lambda: paths.extend(fetch(info))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.asked == [None]
    assert paths == [places[1] / "table.csv.gz"] * 3
    assert [path.name for path in places[1].iterdir()] == ["table.csv.gz"]


# Archives that are not what they should be --------------------------------------------------------


def flagged(path, place, value):
    """Write a zip archive and change a field of both its directories."""
    data = bytearray(write_zip(path, {"a.txt": b"wheat"}).read_bytes())
    for mark, start in ((b"PK\3\4", place), (b"PK\1\2", place + 2)):
        at = data.index(mark) + start
        data[at : at + 2] = value.to_bytes(2, "little")
    path.write_bytes(data)


def sized(path, size):
    """Write a tar archive whose file says that it has a size."""
    member = tarfile.TarInfo("a.txt")
    member.size = size
    path.write_bytes(member.tobuf(tarfile.GNU_FORMAT) + bytes(1024))


LIES = {
    "encrypted": (lambda path: flagged(path, 6, 1), "encrypted"),
    "unknown method": (lambda path: flagged(path, 8, 99), "packed by method 99"),
    "another method": (lambda path: flagged(path, 8, zipfile.ZIP_LZMA), "packed by method 14"),
    "negative size": (lambda path: sized(path, -5), "would unpack to a file of -5 bytes"),
    "endless size": (lambda path: sized(path, 1 << 60), "would unpack to a file of 1,152"),
    "size beyond the end": (lambda path: sized(path, 9_999), "unexpected end of data"),
}


@pytest.mark.parametrize(("write", "reason"), LIES.values(), ids=LIES)
def test_an_archive_that_lies_is_told(tmp_path, write, reason):
    write(tmp_path / "a")
    with pytest.raises(DocumentError, match=reason):
        list(_archive.members(tmp_path / "a"))


OTHERS = {
    "a part that is none": ("ling-spam", {"bare/part99/1.txt": b""}),
    "a number that is too long": ("imdb", {f"aclImdb/train/pos/{'9' * 5000}_1.txt": b""}),
}


@pytest.mark.parametrize(("name", "content"), OTHERS.values(), ids=OTHERS)
def test_a_corpus_that_is_another_is_told(tmp_path, name, content):
    path, info = tmp_path / "a.tar.gz", corpora.describe(name)
    write_tar(path, content) if isinstance(content, dict) else path.write_bytes(content)
    options = parse_options(info, {})
    with pytest.raises(DocumentError, match="is damaged or not what it should be"):
        info.read_files([path] * len(info.files), info.variants[0], **options)


# Archives that unpack to too much -----------------------------------------------------------------


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_archive, "MIN_ALLOWANCE", 100_000)
    zeros = bytes(50_000_000)
    write_tar(tmp_path / "a.tar.gz", {"a": zeros})
    write_tar(tmp_path / "a.tar.xz", {"a": zeros})
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", zeros)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(zeros))
    tracemalloc.start()
    try:
        for path in sorted(tmp_path.iterdir()):
            for pattern in ("", "none has this"):
                if path.name == "a.zip" and pattern:
                    continue  # what is not asked for is not unpacked
                with pytest.raises(DocumentError, match="would unpack to more than 150 times"):
                    list(_archive.members(path, pattern))
                    _archive.read_bytes(path)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_files_of_an_archive_are_bounded_in_number_and_size(tmp_path, monkeypatch):
    monkeypatch.setattr(_archive, "MOST_MEMBERS", 3)
    monkeypatch.setattr(_archive, "MOST_EACH", 9)
    for write, name in ((write_tar, "a.tar.gz"), (write_zip, "a.zip")):
        right = {str(i): b"123456789" for i in range(3)}
        assert len(list(_archive.members(write(tmp_path / name, right)))) == 3
        with pytest.raises(DocumentError, match="would unpack to more than 3 files"):
            list(_archive.members(write(tmp_path / name, {**right, "4": b""})))
        with pytest.raises(DocumentError, match="would unpack to a file of 10 bytes"):
            list(_archive.members(write(tmp_path / name, {"a": b"1234567890"})))
    (tmp_path / "a.csv").write_bytes(b"1234567890")
    with pytest.raises(DocumentError, match="would unpack to a file of more than 9 bytes"):
        _archive.read_bytes(tmp_path / "a.csv")


def test_page_not_found_is_told(places):
    with serve(None) as server, pytest.raises(DocumentError) as caught:
        fetch(table_info(server.url))
    assert f"{server.url} failed: the server answered 404" in str(caught.value)


def test_corpus_that_cannot_be_had_says_address_folder_and_variable(places, monkeypatch):
    data, cached = places
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/table.csv.gz"
    info = table_info(url)
    with pytest.raises(DocumentError) as caught:
        fetch(info)
    for word in (f"the download from {url} failed: ", "table.csv.gz or table.csv", str(data)):
        assert word in str(caught.value)
    monkeypatch.delenv("THRESHER_DATA")
    with pytest.raises(DocumentError) as caught:
        fetch(info, download=False)
    for word in (url, "$THRESHER_DATA/toys", "THRESHER_DATA is not set", str(cached)):
        assert word in str(caught.value)
    assert "failed" not in str(caught.value) and not corpora.is_here(info)


def test_corpus_without_address_names_the_page_of_its_authors(places):
    with pytest.raises(DocumentError, match=r"from http://toys\.example/ and put it"):
        fetch(table_info())


def test_cache_that_cannot_be_written_is_told(places):
    places[1].parent.write_text("a file where the folder should be")
    with serve(PACKED) as server, pytest.raises(DocumentError, match="failed: Not a directory"):
        fetch(table_info(server.url))


def test_load_never_downloads(places):
    with pytest.raises(DocumentError, match="Run `thresher corpus fetch reuters21578`"):
        load("reuters21578")


def test_local_file_of_the_wrong_content_is_told(places):
    data, _ = places
    (data / "table.csv").write_bytes(TABLE[:-7])
    with pytest.raises(
        DocumentError, match=r"table\.csv has [\d,]+ bytes and the sha256 .* instead"
    ):
        fetch(table_info())
    with pytest.raises(DocumentError, match="its contents differ, too"):
        _fetch.obtain(table_info(), table_info().files[0], download=False)


def test_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("THRESHER_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert corpora.cache_folder() == tmp_path / "thresher"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert corpora.cache_folder().parts[-2:] == (".cache", "thresher")
