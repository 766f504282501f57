"""Download a file, taking up again what broke off."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["Progress", "download"]

CHUNK = 1 << 18  # bytes between two calls of the progress function
ATTEMPTS = 3  # a connection that breaks is taken up again this often
TIMEOUT = 30.0  # seconds of silence after which a connection counts as broken
PARTIAL, RANGE_REFUSED = 206, 416  # answers of the server

Progress = Callable[[int, int | None], None]


def download(url: str, part: Path, progress: Progress | None = None) -> None:
    """Complete a partial file; raise `ConnectionError`, in a few words, when that fails.

    The file need not be there yet, and stays when the download breaks off. `progress` is called
    with the bytes had so far and the bytes in all (None when unknown).
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _transfer(url, part, progress)
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS:
                raise ConnectionError(_reason(error)) from None


def _transfer(url: str, part: Path, progress: Progress | None) -> None:
    had = part.stat().st_size if part.exists() else 0
    with _open(url, part, had) as response:
        resumed = response.status == PARTIAL
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


def _open(url: str, part: Path, had: int) -> Any:
    """Ask for the file from the byte `had` on; from the start where the server cannot do that."""
    request = urllib.request.Request(url, headers={"User-Agent": "thresher"})
    if had:
        request.add_header("Range", f"bytes={had}-")
    try:
        return urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != RANGE_REFUSED or not had:
            raise
    part.unlink()  # it is longer than the file, which may have changed
    return _open(url, part, 0)


def _range_start(response: Any) -> int:
    """Return the first byte that a partial answer holds; -1 when it does not say."""
    start = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(start) if start.isdigit() else -1


def _reason(error: Exception) -> str:
    """Return in a few words why a connection failed."""
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    reason = getattr(error, "reason", error)
    return str(getattr(reason, "strerror", None) or reason or type(error).__name__)
