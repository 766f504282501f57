"""A real browser for the tests: headless Chromium, controlled through a pipe.

Chromium speaks the DevTools protocol on file descriptors 3 and 4 when started with
--remote-debugging-pipe, as JSON messages that end in a zero byte. Nothing else is needed.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def find_browser() -> str | None:
    """Return the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One process of Chromium with one page, for use in a `with` statement."""

    def __init__(self, executable: str, timeout: float = 60.0) -> None:
        self.timeout = timeout
        self.errors: list[str] = []  # uncaught exceptions and console messages
        self.requests: list[str] = []  # addresses requested by the page
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._start(executable)
        self._number, self._buffer = 0, b""
        target = self._call("Target.createTarget", {"url": "about:blank"}, session=None)
        attached = self._call(
            "Target.attachToTarget",
            {"targetId": target["targetId"], "flatten": True},
            session=None,
        )
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")

    def _start(self, executable: str) -> None:
        commands, answers = os.pipe(), os.pipe()
        child_ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (commands[0], answers[1])]
        self._write, self._read = commands[1], answers[0]

        def place_pipes() -> None:  # in the child: as the file descriptors that Chromium expects
            os.dup2(child_ends[0], 3)
            os.dup2(child_ends[1], 4)

        self._process = subprocess.Popen(
            [executable, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"],
            preexec_fn=place_pipes,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (commands[0], answers[1], *child_ends):
            os.close(fd)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    # ---- the protocol ------------------------------------------------------------------------

    def _call(self, method: str, params: dict | None = None, session: str | None = "") -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = session or self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda item: item.get("id") == message["id"])
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _until(self, is_match: Callable[[dict], bool]) -> dict:
        deadline = time.monotonic() + self.timeout
        while True:
            event = self._next(deadline)
            self._note(event)
            if is_match(event):
                return event

    def _next(self, deadline: float) -> dict:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"the browser did not answer within {self.timeout} s")
            read = os.read(self._read, 1 << 20)
            if not read:
                raise RuntimeError("the browser has gone away")
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict) -> None:
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif event.get("method") == "Log.entryAdded":
            self.errors.append(params["entry"]["text"])
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    # ---- actions of a user -------------------------------------------------------------------

    def open(
        self,
        page: Path,
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        script: bool = True,
        fragment: str = "",
        scale: int = 1,
    ) -> None:
        """Open a file in a window of the given size, light or dark, with or without scripts."""
        self.errors.clear()
        self.requests.clear()
        size = {"width": width, "height": height, "mobile": width < 600}
        self._call("Emulation.setDeviceMetricsOverride", size | {"deviceScaleFactor": scale})
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self._call("Emulation.setEmulatedMedia", {"features": [scheme, still]})
        self._call("Emulation.setScriptExecutionDisabled", {"value": not script})
        self._call("Page.navigate", {"url": "about:blank"})
        self._until(lambda item: item.get("method") == "Page.loadEventFired")
        self._call("Page.navigate", {"url": page.resolve().as_uri() + fragment})
        self._until(lambda item: item.get("method") == "Page.loadEventFired")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        answer = self._call("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def until(self, expression: str, seconds: float = 20.0) -> None:
        """Wait until a JavaScript expression is true, for example after a click on a link."""
        deadline = time.monotonic() + seconds
        while not self.evaluate(expression):
            assert time.monotonic() < deadline, f"{expression} did not come true"
            time.sleep(0.02)

    def text(self) -> str:
        """Return the visible text without running a script in the page."""
        shot = self._call("DOMSnapshot.captureSnapshot", {"computedStyles": ["visibility"]})
        strings = shot["strings"]
        seen = (i for document in shot["documents"] for i in document["layout"]["text"] if i >= 0)
        return " ".join(strings[i] for i in seen)

    def click(self, selector: str) -> None:
        """Click with the mouse on the centre of the first element that matches a selector."""
        x, y = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
            self._call("Input.dispatchMouseEvent", event)

    def press(self, key: str, times: int = 1) -> None:
        """Press a named key, such as ArrowLeft or Enter, on the focused element."""
        codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Tab": 9, "Enter": 13}
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                event = {"type": kind, "key": key, "code": key}
                event |= {"windowsVirtualKeyCode": codes[key]}
                event |= {"text": "\r"} if key == "Enter" else {}
                self._call("Input.dispatchKeyEvent", event)

    def type(self, text: str) -> None:
        """Type text into the focused element."""
        self._call("Input.insertText", {"text": text})

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a screenshot of the window or the whole page, in the format of the file name."""
        params: dict[str, Any] = {"format": path.suffix[1:], "captureBeyondViewport": whole}
        if whole:
            size = self._call("Page.getLayoutMetrics")["cssContentSize"]
            params["clip"] = {**size, "scale": 1}
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", params)["data"]))
