"""Download a file, taking up again what broke off; a server is believed nothing."""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["Progress", "download"]

CHUNK = 1 << 18  # bytes between two calls of the progress function, at most
ATTEMPTS = 3  # a connection that breaks is taken up again this often
TIMEOUT = 30.0  # seconds of silence after which a connection counts as broken
LEAST_RATE, RATE_TIME = 1_000, 60.0  # bytes a second, over so many seconds, that are enough
MOST_BYTES = 1 << 28  # of a file whose size is not known
WHOLE, PARTIAL, RANGE_REFUSED = 200, 206, 416  # answers of the server
RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")

Progress = Callable[[int, int | None], None]


class _RefusedError(ConnectionError):
    """An answer that would be the same the next time."""


class _ToHttps(urllib.request.HTTPRedirectHandler):
    """Follow the server elsewhere a few times, where nobody on the way can choose the place."""

    max_redirections = 5
    max_repeats = 2

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        if not newurl.lower().startswith("https://"):
            fp.close()
            raise _RefusedError(f"the server sends us on to {newurl[:200]!r}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(
    url: str, part: Path, size: int | None = None, progress: Progress | None = None
) -> None:
    """Complete a partial file; raise `OSError`, in a few words, when that fails.

    The file need not be there yet, and stays when the download breaks off. No more than `size`
    bytes are written, where it is known. `progress` is called with the bytes had so far and the
    bytes in all (None when unknown).
    """
    for attempt in range(1, ATTEMPTS + 1):
        if size is not None and part.exists() and part.stat().st_size == size:
            return
        try:
            return _transfer(url, part, size, progress)
        except (OSError, ValueError, http.client.HTTPException) as error:
            if isinstance(error, _RefusedError) or attempt == ATTEMPTS:
                raise ConnectionError(_reason(error)) from None


def _transfer(url: str, part: Path, size: int | None, progress: Progress | None) -> None:
    most, had = size or MOST_BYTES, part.stat().st_size if part.exists() else 0
    if had > most:
        part.unlink()
        had = 0
    with _open(url, part, had) as response:
        is_resumed, total = _understand(response, part, had)
        had = had if is_resumed else 0
        if total is not None and (total > most or size not in (None, total)):
            raise _RefusedError(f"it has {total:,} bytes, and {most:,} are expected")
        began, had_then = time.monotonic(), had
        with part.open("ab" if is_resumed else "wb") as stream:
            while chunk := response.read1(CHUNK):
                had += len(chunk)
                if had > (total or most):
                    stream.close()
                    part.unlink()
                    raise _RefusedError(f"the server sent more than {total or most:,} bytes")
                stream.write(chunk)
                if progress:
                    progress(had, total or size)
                if (now := time.monotonic()) - began > RATE_TIME:
                    if had - had_then < LEAST_RATE * RATE_TIME:
                        raise _RefusedError(f"it came at less than {LEAST_RATE:,} bytes a second")
                    began, had_then = now, had
    if had < (total or size or 0):
        raise ConnectionError(f"it broke off after {had:,} of {total or size:,} bytes")


def _understand(response: Any, part: Path, had: int) -> tuple[bool, int | None]:
    """Return whether an answer goes on from what is had, and how many bytes there will be."""
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _RefusedError("the server packed it once more, which it was not asked for")
    length = response.headers.get("Content-Length")
    if length is not None and not re.fullmatch(r"[0-9]{1,15}", length.strip()):
        raise _RefusedError(f"the server says that it has {length[:40]!r} bytes")
    if response.status == WHOLE:
        return False, None if length is None else int(length)
    if response.status != PARTIAL or not had:
        raise _RefusedError(f"the server answered {response.status}, which it was not asked for")
    sent = RANGE.fullmatch(response.headers.get("Content-Range", ""))
    start, end, total = map(int, sent.groups()) if sent else (-1, -1, -1)
    if start != had or end + 1 != total or length not in (None, str(total - start)):
        part.unlink()
        raise ConnectionError("the server sent another part than it was asked for")
    return True, total


def _open(url: str, part: Path, had: int) -> Any:
    """Ask for the file from the byte `had` on; from the start where the server cannot do that."""
    headers = {"User-Agent": "thresher", "Accept-Encoding": "identity"}
    request = urllib.request.Request(url, headers=headers)
    if had:
        request.add_header("Range", f"bytes={had}-")
    try:
        return urllib.request.build_opener(_ToHttps).open(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != RANGE_REFUSED or not had:
            raise
    part.unlink()  # it is longer than the file, which may have changed
    return _open(url, part, 0)


def _reason(error: Exception) -> str:
    """Return in a few words why a connection failed."""
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {' '.join(str(error.reason).split())[:200]}"
    reason = getattr(error, "reason", error)
    words = " ".join(str(getattr(reason, "strerror", None) or reason).split())
    return words[:300] or type(error).__name__
