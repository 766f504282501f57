"""Find a corpus on this machine, or download it, and verify that it is the published one."""

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

__all__ = ["cache_folder", "check", "contents_digest", "locate", "obtain"]


def data_folder() -> Path | None:
    """Return the folder that $THRESHER_DATA names, if it does."""
    named = os.environ.get("THRESHER_DATA")
    return Path(named) if named else None


def locate(file: File) -> Path | None:
    """Return where the file is, in any of its forms; None when it is nowhere."""
    folders = [folder for folder in (data_folder(), cache_folder()) if folder]
    paths = (folder / file.folder / form.name for folder in folders for form in file.forms)
    return next((path for path in paths if path.is_file()), None)


def obtain(
    info: CorpusInfo, file: File, *, download: bool, progress: Progress | None = None
) -> Path:
    """Return the path of a file of a corpus, verified, and downloaded where it may and must be."""
    path = locate(file)
    if path is not None:
        check(file, path, path.name)
        return path
    failed = []
    for form in file.forms if download else ():
        if form.url is not None and not file.may_download(form):
            failed.append(f"no checksum is known by which {form.url} could be told from another")
        elif form.url is not None:
            try:
                return _download(file, form, form.url, progress)
            except OSError as error:
                failed.append(f"the download from {form.url} failed: {error.strerror or error}")
    raise DocumentError(_missing(info, file, failed))


def check(file: File, path: Path, name: str, *, unpack: bool = True) -> None:
    """Raise unless the file is what it should be: by its checksum, else by that of its contents.

    `name` is the name under which it is known, which a partial download does not bear yet. Without
    `unpack`, nothing is read of an archive but its bytes: one from the net is a stranger until its
    checksum is right. What was put here by hand may be packed otherwise.
    """
    with reading(path):
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        known = [form.sha256 for form in file.forms if form.name == name and form.sha256]
        if digest in known:
            return
        size, differs = path.stat().st_size, ""
        if unpack:
            if contents_digest(path, file) == file.contents:
                return
            differs = ", and what is inside differs as well"
        elif file.members is None and size <= MOST_EACH and _lines_digest(path) == file.contents:
            return
    expected = " or ".join(known) or "a known one"
    raise DocumentError(
        f"{path} has {size:,} bytes and the sha256 {digest} instead of {expected}{differs}. "
        "Delete it and fetch it again."
    )


def _lines_digest(path: Path) -> str:
    return digest_of_lines(path.read_bytes())


def contents_digest(path: Path, file: File) -> str:
    """Return the digest of what is inside a file, whatever it is packed in."""
    if file.members is None:
        return digest_of_lines(read_bytes(path))
    return digest_of_members(members(path, file.members), file.members, alone=file.alone)


def _download(file: File, form: Form, url: str, progress: Progress | None) -> Path:
    """Download to a file beside the target, verify it, and only then give it its name."""
    from thresher.corpora._download import download  # seldom needed, and slow to import

    target = cache_folder() / file.folder / form.name
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    with ExitStack() as held:
        with suppress(OutputError):  # where nothing can be locked, two downloads may disturb
            held.enter_context(one_writer(target, _warn))
        if target.is_file():  # another process has fetched it meanwhile
            check(file, target, form.name)
            return target
        download(url, part, form.size, progress)
        try:
            check(file, part, form.name, unpack=False)
        except DocumentError as error:
            part.unlink()  # to go on from it would only give the same
            raise DocumentError(f"The download from {url} was refused: {error}") from None
        os.replace(part, target)
    return target


def _warn(sentence: str) -> None:
    warnings.warn(sentence, ThresherWarning, stacklevel=2)


def _missing(info: CorpusInfo, file: File, failed: list[str]) -> str:
    """Return the sentences for a file that cannot be had: where to get it and where to put it."""
    data, cache = data_folder(), cache_folder() / file.folder
    names = " or ".join(dict.fromkeys(form.name for form in file.forms))
    addresses = " or ".join(form.url for form in file.forms if form.url) or info.home
    parts = [part for form in file.forms if (part := cache / f"{form.name}.part").exists()]
    kept = f" What came is kept in {parts[0]}, to go on from." if parts else ""
    place = (data if data else Path("$THRESHER_DATA")) / file.folder
    now = f"is {data}" if data else "is not set"
    is_public = any(map(file.may_download, file.forms))
    run = f"Run `thresher corpus fetch {info.name}`, or take" if is_public else "Take"
    why = "".join(f", and {one}" for one in failed)
    return (
        f"The corpus {info.name} is not on this machine{why}.{kept} "
        f"{run} {names} from {addresses} and put it "
        f"into {place} (the environment variable THRESHER_DATA {now}) or into {cache}."
    )
