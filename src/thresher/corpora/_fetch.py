"""Find a corpus on this machine, or download it: resumed where it broke off, and verified."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from thresher.corpora._archive import digest_of_lines, digest_of_members, members, read_bytes
from thresher.corpora._registry import CorpusInfo, File, Form, parse_options
from thresher.errors import DocumentError

__all__ = ["cache_folder", "locate", "obtain"]

CHUNK = 1 << 18  # bytes between two calls of the progress function
ATTEMPTS = 3  # a connection that breaks is taken up again this often
TIMEOUT = 30.0  # seconds of silence after which a connection counts as broken
RANGE_REFUSED = 416

Progress = Callable[[int, int | None], None]


def data_folder() -> Path | None:
    """Return the folder that $THRESHER_DATA names, if it does."""
    named = os.environ.get("THRESHER_DATA")
    return Path(named) if named else None


def cache_folder() -> Path:
    """Return the folder that downloads go to: $THRESHER_CACHE, else the user's cache."""
    named = os.environ.get("THRESHER_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "thresher"


def locate(file: File) -> Path | None:
    """Return where the file is, in any of its forms; None when it is nowhere."""
    data = data_folder()
    for folder in ([data] if data else []) + [cache_folder()]:
        for form in file.forms:
            path = folder / file.folder / form.name
            if path.is_file():
                return path
    return None


def obtain(
    info: CorpusInfo, file: File, *, download: bool, verify: bool, progress: Progress | None = None
) -> Path:
    """Return the path of a file of a corpus, verified and downloaded as asked.

    Parameters
    ----------
    info : CorpusInfo
        The corpus, for what is said when the file cannot be had.
    file : File
        The file.
    download : bool
        Whether it may be downloaded when it is not on this machine.
    verify : bool
        Whether a file that is there is read through and compared with its checksum. One that has
        not the size it should have is, whatever is asked; a download always is.
    progress : callable, optional
        Called with the bytes had so far and the bytes in all (None when unknown).
    """
    path = locate(file)
    if path is not None:
        sizes = {form.size for form in file.forms if form.name == path.name}
        if verify or not sizes & {None, path.stat().st_size}:
            check(info, file, path, path.name)
        return path
    failed = []
    for form in file.forms if download else ():
        if form.url is not None:
            target = cache_folder() / file.folder / form.name
            try:
                return _download(info, file, form, target, progress)
            except (OSError, http.client.HTTPException) as error:
                failed.append(f"the download from {form.url} failed: {_said(error)}")
    raise DocumentError(_missing(info, file, failed))


def check(info: CorpusInfo, file: File, path: Path, name: str) -> None:
    """Raise unless the file is what it should be: by its checksum, its contents or its counts.

    `name` is the name under which it is known, which a partial download does not bear yet.
    """
    forms = [form for form in file.forms if form.name == name]
    found = _sha256(path)
    if found in {form.sha256 for form in forms}:
        return
    if any(form.by_counts for form in forms):
        variant = info.variants[0]
        counts = info.read([path], variant, **parse_options(info, {})).counts()
        right, differs = counts == info.counts[variant], f"it holds {counts} documents"
    else:
        right = contents_digest(path, file) == file.contents
        differs = "what is inside differs as well"
    if not right:
        expected = " or ".join(form.sha256 for form in forms if form.sha256) or "a known one"
        raise DocumentError(
            f"{path} has {path.stat().st_size:,} bytes and the sha256 {found} instead of "
            f"{expected}, and {differs}. Delete it and fetch it again."
        )


def contents_digest(path: Path, file: File) -> str:
    """Return the digest of what is inside a file, whatever it is packed in."""
    if file.members is None:
        return digest_of_lines(read_bytes(path))
    return digest_of_members(members(path, file.members), file.members)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _download(
    info: CorpusInfo, file: File, form: Form, target: Path, progress: Progress | None
) -> Path:
    """Download to a file beside the target, verify it, and only then give it its name."""
    assert form.url is not None
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _transfer(form.url, part, progress)
            break
        except (OSError, http.client.HTTPException):
            if attempt == ATTEMPTS:
                raise
    try:
        check(info, file, part, form.name)
    except DocumentError as error:
        part.unlink()  # to go on from it would only give the same
        raise DocumentError(f"The download from {form.url} was refused: {error}") from None
    os.replace(part, target)
    return target


def _transfer(url: str, part: Path, progress: Progress | None) -> None:
    """Fetch what is missing of the partial file."""
    had = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "thresher"})
    if had:
        request.add_header("Range", f"bytes={had}-")
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != RANGE_REFUSED or not had:
            raise
        part.unlink()  # longer than the file itself, or the file has changed: begin again
        return _transfer(url, part, progress)
    with response:
        resumed = response.status == 206
        if resumed and _range_start(response) != had:
            part.unlink()
            raise ConnectionError("the server sent another part than it was asked for")
        had = had if resumed else 0
        length = response.headers.get("Content-Length")
        total = had + int(length) if length else None
        with part.open("ab" if resumed else "wb") as stream:
            while chunk := response.read(CHUNK):
                stream.write(chunk)
                had += len(chunk)
                if progress:
                    progress(had, total)
    if total is not None and had < total:
        raise ConnectionError(f"it broke off after {had:,} of {total:,} bytes")


def _range_start(response: Any) -> int:
    """Return the first byte that a partial answer holds; -1 when it does not say."""
    said = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(said) if said.isdigit() else -1


def _said(error: Exception) -> str:
    """Return in a few words why a connection failed."""
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    reason = getattr(error, "reason", error)
    return str(getattr(reason, "strerror", None) or reason or type(error).__name__)


def _missing(info: CorpusInfo, file: File, failed: list[str]) -> str:
    """Return the sentences for a file that cannot be had: where to get it and where to put it."""
    data, cache = data_folder(), cache_folder() / file.folder
    names = " or ".join(dict.fromkeys(form.name for form in file.forms))
    addresses = " or ".join(form.url for form in file.forms if form.url) or info.home
    parts = [part for form in file.forms if (part := cache / f"{form.name}.part").exists()]
    kept = f" What came is kept in {parts[0]}, to go on from." if parts else ""
    place = (data if data else Path("$THRESHER_DATA")) / file.folder
    now = f"is {data}" if data else "is not set"
    why = "".join(f", and {one}" for one in failed)
    return (
        f"The corpus {info.name} is not on this machine{why}.{kept} "
        f"Run `thresher corpus fetch {info.name}`, or take {names} from {addresses} and put it "
        f"into {place} (the environment variable THRESHER_DATA {now}) or into {cache}."
    )
