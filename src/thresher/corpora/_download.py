"""Downloads that resume after a broken connection and do not trust the server."""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHUNK = 1 << 18  # bytes read at a time, between two calls of the progress function
ATTEMPTS = 3  # connections for a file
TIMEOUT = 30.0  # seconds without data after which a connection counts as broken
LEAST_RATE, RATE_TIME = 1_000, 60.0  # bytes per second, measured over so many seconds
MOST_BYTES = 1 << 28  # of a file of unknown size
WHOLE, PARTIAL, RANGE_REFUSED = 200, 206, 416  # HTTP status
RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")

Progress = Callable[[int, int | None], None]


class _RefusedError(ConnectionError):
    """An answer that would not change in another attempt."""


class _ToHttps(urllib.request.HTTPRedirectHandler):
    """Follow a few redirections, only to HTTPS."""

    max_redirections = 5
    max_repeats = 2

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        if not newurl.lower().startswith("https://"):
            fp.close()
            raise _RefusedError(f"the server redirects to {newurl[:200]!r}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(
    url: str, partial_file: Path, size: int | None = None, progress: Progress | None = None
) -> None:
    """Download a file, continuing a partial one; raise `OSError` if that fails.

    An incomplete file stays, and the next attempt continues it. At most `size` bytes are written,
    if given. `progress` is called with the number of bytes received so far and the total (None if
    unknown).
    """
    for attempt in range(1, ATTEMPTS + 1):
        if size is not None and partial_file.exists() and partial_file.stat().st_size == size:
            return
        try:
            return _transfer(url, partial_file, size, progress)
        except (OSError, ValueError, http.client.HTTPException) as error:
            if isinstance(error, _RefusedError) or attempt == ATTEMPTS:
                raise ConnectionError(_reason(error)) from None


def _transfer(url: str, partial_file: Path, size: int | None, progress: Progress | None) -> None:
    most, had = size or MOST_BYTES, partial_file.stat().st_size if partial_file.exists() else 0
    if had > most:
        partial_file.unlink()
        had = 0
    with _open(url, partial_file, had) as response:
        is_resumed, total = _understand(response, partial_file, had)
        had = had if is_resumed else 0
        if total is not None and (total > most or size not in (None, total)):
            raise _RefusedError(f"it has {total:,} bytes, and {most:,} are expected")
        began, had_then = time.monotonic(), had
        with partial_file.open("ab" if is_resumed else "wb") as stream:
            while chunk := response.read1(CHUNK):
                had += len(chunk)
                if had > (total or most):
                    stream.close()
                    partial_file.unlink()
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


def _understand(response: Any, partial_file: Path, had: int) -> tuple[bool, int | None]:
    """Return whether an answer continues the partial file, and the total number of bytes."""
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _RefusedError("the server compressed it, which was not requested")
    length = response.headers.get("Content-Length")
    if length is not None and not re.fullmatch(r"[0-9]{1,15}", length.strip()):
        raise _RefusedError(f"the server says that it has {length[:40]!r} bytes")
    if response.status == WHOLE:
        return False, None if length is None else int(length)
    if response.status != PARTIAL or not had:
        raise _RefusedError(f"the server answered {response.status}, which was not requested")
    sent = RANGE.fullmatch(response.headers.get("Content-Range", ""))
    start, end, total = map(int, sent.groups()) if sent else (-1, -1, -1)
    if start != had or end + 1 != total or length not in (None, str(total - start)):
        partial_file.unlink()
        raise ConnectionError("the server sent another range than requested")
    return True, total


def _open(url: str, partial_file: Path, had: int) -> Any:
    """Request the file from byte `had`, or from the start if the server cannot do that."""
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
    partial_file.unlink()  # longer than the file, which may have changed
    return _open(url, partial_file, 0)


def _reason(error: Exception) -> str:
    """Return a short reason why a connection failed."""
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {' '.join(str(error.reason).split())[:200]}"
    reason = getattr(error, "reason", error)
    words = " ".join(str(getattr(reason, "strerror", None) or reason).split())
    return words[:300] or type(error).__name__
