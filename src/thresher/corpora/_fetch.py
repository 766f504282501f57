"""Find a corpus on this machine, or download it, and verify that it is the published one."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from thresher._places import cache_folder
from thresher.corpora._archive import digest_of_lines, digest_of_members, members, read_bytes
from thresher.corpora._registry import CorpusInfo, File, Form, parse_options
from thresher.errors import DocumentError

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
    info: CorpusInfo, file: File, *, download: bool, verify: bool, progress: Progress | None = None
) -> Path:
    """Return the path of a file of a corpus, downloaded where it may and must be.

    A download is always verified, and so is a file that has not the size it should have; another
    one only where asked.
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
            try:
                return _download(info, file, form, form.url, progress)
            except OSError as error:
                failed.append(f"the download from {form.url} failed: {error.strerror or error}")
    raise DocumentError(_missing(info, file, failed))


def check(info: CorpusInfo, file: File, path: Path, name: str) -> None:
    """Raise unless the file is what it should be: by its checksum, its contents or its counts.

    `name` is the name under which it is known, which a partial download does not bear yet.
    """
    forms = [form for form in file.forms if form.name == name]
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest in {form.sha256 for form in forms}:
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
            f"{path} has {path.stat().st_size:,} bytes and the sha256 {digest} instead of "
            f"{expected}, and {differs}. Delete it and fetch it again."
        )


def contents_digest(path: Path, file: File) -> str:
    """Return the digest of what is inside a file, whatever it is packed in."""
    if file.members is None:
        return digest_of_lines(read_bytes(path))
    return digest_of_members(members(path, file.members), file.members)


def _download(
    info: CorpusInfo, file: File, form: Form, url: str, progress: Progress | None
) -> Path:
    """Download to a file beside the target, verify it, and only then give it its name."""
    from thresher.corpora._download import download  # seldom needed, and slow to import

    target = cache_folder() / file.folder / form.name
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    download(url, part, progress)
    try:
        check(info, file, part, form.name)
    except DocumentError as error:
        part.unlink()  # to go on from it would only give the same
        raise DocumentError(f"The download from {url} was refused: {error}") from None
    os.replace(part, target)
    return target


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
