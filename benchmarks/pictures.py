"""Screenshots for the front page: an explanation and a report of the demo.

    python benchmarks/pictures.py

needs Chromium and `thresher demo`, whose model is in demo/. A screen's is as broad as it is shown,
a phone's has twice the pixels, as phones have; what is below the first two sections is cut off.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import Browser, find_browser  # noqa: E402
from thresher import Categorizer, write_report  # noqa: E402
from thresher.report import explanation_page  # noqa: E402

TEXT = "Send a message to an SMTP server"
SIZES = {"": (1100, 1), "-phone": (390, 2)}  # name suffix: width in pixels, dots per pixel
ENDS = {"explanation": "document.body", "report": "document.querySelector('nav')"}


def shoot(page, name, size, is_dark, end):
    """Write a page from its top to the end of an element as a picture."""
    width, scale = SIZES[size]
    with Browser(find_browser()) as browser:
        browser.open(page, width=width, height=400, dark=is_dark)
        bottom = f"{end}.getBoundingClientRect().{'top' if name == 'report' else 'bottom'}"
        height = browser.evaluate(f"Math.ceil({bottom})")
        browser.open(page, width=width, height=height, dark=is_dark, scale=scale)
        browser.evaluate("document.body.style.paddingBottom = 0")
        kind = f"{size}{'-dark' if is_dark else ''}"
        browser.screenshot(ROOT / f"docs/images/{name}{kind}.webp")


def main():
    """Write the pages and the screenshots."""
    model = Categorizer.load("demo/model.thresher")
    with TemporaryDirectory() as folder:
        pages = {name: Path(folder) / f"{name}.html" for name in ENDS}
        pages["explanation"].write_text(explanation_page(model.explain(TEXT)), encoding="utf-8")
        title = "Python's own library, by package"
        write_report(pages["report"], model, "demo/test.jsonl", title=title)
        for name, end in ENDS.items():
            for size in SIZES:
                for is_dark in (False, True):
                    shoot(pages[name], name, size, is_dark, end)


if __name__ == "__main__":
    main()
