"""Finding the files of a corpus on this machine or downloading them, and verifying them."""

from __future__ import annotations

import hashlib
import os
import warnings
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.corpora._archive import (
    MOST_EACH,
    digest_of_lines,
    digest_of_members,
    members,
    read_bytes,
    reading,
)
from thresher.corpora._registry import CorpusInfo, File, Form
from thresher.errors import DocumentError, OutputError, ThresherWarning
from thresher.files import cache_folder, one_writer

if TYPE_CHECKING:
    from thresher.corpora._download import Progress


def data_folder() -> Path | None:
    """Return the folder named by $THRESHER_DATA, if it is set."""
    named = os.environ.get("THRESHER_DATA")
    return Path(named) if named else None


def locate(file: File) -> Path | None:
    """Return the path of the file in any of its forms, or None."""
    folders = [folder for folder in (data_folder(), cache_folder()) if folder]
    paths = (folder / file.folder / form.name for folder in folders for form in file.forms)
    return next((path for path in paths if path.is_file()), None)


def obtain(
    info: CorpusInfo, file: File, *, download: bool, progress: Progress | None = None
) -> Path:
    """Return the verified path of a file of a corpus; download it if allowed and necessary."""
    path = locate(file)
    if path is not None:
        check(file, path, path.name)
        return path
    failures = []
    for form in file.forms if download else ():
        if form.url is not None and not file.may_download(form):
            failures.append(f"no checksum is known to verify {form.url}")
        elif form.url is not None:
            try:
                return _download(file, form, form.url, progress)
            except OSError as error:
                failures.append(f"the download from {form.url} failed: {error.strerror or error}")
    raise DocumentError(_missing(info, file, failures))


def check(file: File, path: Path, name: str, *, unpack: bool = True) -> None:
    """Raise an error if neither the checksum of a file nor that of its contents is right.

    `name` is its published name, which differs from that of a partial download. Without `unpack`,
    an archive is not opened, because a download is not trusted before its checksum is verified.
    Files that users put here may be packed in another way.
    """
    with reading(path):
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        known = [form.sha256 for form in file.forms if form.name == name and form.sha256]
        if digest in known:
            return
        size, contents, differs = path.stat().st_size, None, ""
        if unpack:
            contents, differs = contents_digest(path, file), ", and its contents differ, too"
        elif file.members is None and size <= MOST_EACH:
            contents = digest_of_lines(path.read_bytes())
        if contents == file.contents:
            return
    expected = " or ".join(known) or "a known one"
    raise DocumentError(
        f"{path} has {size:,} bytes and the sha256 {digest} instead of {expected}{differs}. "
        "Delete it and fetch it again."
    )


def contents_digest(path: Path, file: File) -> str:
    """Return the digest of the contents of a file, which is equal for all its forms."""
    if file.members is None:
        return digest_of_lines(read_bytes(path))
    return digest_of_members(members(path, file.members), file.members, alone=file.alone)


def _download(file: File, form: Form, url: str, progress: Progress | None) -> Path:
    """Download to a temporary file, verify it, and rename it to the target."""
    from thresher.corpora._download import download  # rarely needed and slow to import

    target = cache_folder() / file.folder / form.name
    target.parent.mkdir(parents=True, exist_ok=True)
    partial_file = target.with_name(target.name + ".part")
    with ExitStack() as stack:
        with suppress(OutputError):  # without locks, two downloads may interfere
            stack.enter_context(one_writer(target, _warn))
        if target.is_file():  # fetched by another process
            check(file, target, form.name)
            return target
        download(url, partial_file, form.size, progress)
        try:
            check(file, partial_file, form.name, unpack=False)
        except DocumentError as error:
            partial_file.unlink()  # continuing it would fail again
            raise DocumentError(f"The download from {url} was refused: {error}") from None
        os.replace(partial_file, target)
    return target


def _warn(sentence: str) -> None:
    warnings.warn(sentence, ThresherWarning, stacklevel=2)


def _missing(info: CorpusInfo, file: File, failures: list[str]) -> str:
    """Return a message about a missing file: where to get it, and where to put it."""
    data, cache = data_folder(), cache_folder() / file.folder
    names = " or ".join(dict.fromkeys(form.name for form in file.forms))
    addresses = " or ".join(form.url for form in file.forms if form.url) or info.home
    paths = (cache / f"{form.name}.part" for form in file.forms)
    partial_file = next((path for path in paths if path.exists()), None)
    resume = f" The next attempt continues with {partial_file}." if partial_file else ""
    folder = (data if data else Path("$THRESHER_DATA")) / file.folder
    now = f"is {data}" if data else "is not set"
    is_public = any(map(file.may_download, file.forms))
    run = f"Run `thresher corpus fetch {info.name}`, or take" if is_public else "Take"
    why = "".join(f", and {failure}" for failure in failures)
    return (
        f"The corpus {info.name} is not on this machine{why}.{resume} "
        f"{run} {names} from {addresses} and put it "
        f"into {folder} (the environment variable THRESHER_DATA {now}) or into {cache}."
    )
