"""Time of reading hostile files against their size, and memory of predicting large ones.

    python benchmarks/reading.py [--megabytes 100] [--largest 10] [--plot reading.svg]

The first table has the processor seconds for files of each hostile shape, from 10 kB up, and the
exponent of the size between the two largest: about 1 if the time is proportional to the size. The
lines of the plot, with logarithmic axes, are then straight and parallel to the dotted one. A size
that would take long is left out. The second table has the peak memory of `thresher predict` on a
large file of each format, and its ratio to that of JSON lines.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from thresher import Categorizer
from thresher.documents import read_documents
from thresher.errors import DocumentError

MOST_SECONDS = 12.0  # expected for one file; larger ones of the shape are left out
HTML = "Subject: x\nTo: y\nContent-Type: text/html\n\n"
MAIL_HEAD = "From a Thu Jan 01 00:00:00 1970\n"
PLAIN = "Subject: x\nTo: y\n\n"

# The beginning of the file, and what is repeated, by the name of the file.
SHAPES = {
    ".eml": [
        *((HTML, shape) for shape in (
            "<a ", "<a/", "<a\n", "<a b=c ", '<a b="', "<!--", "<![CDATA[", "&#", "&#1", "<", "</",
            "<title>", "<script>", "<template>", "<div><p>x</p>", "<table><tr><td>", "<a='",
        )),
        ("Subject: ", "=?a?q?"), ("Content-Type: text/plain", ";a="), ("To: x\n", "X: y\n"),
        (PLAIN, ">From x\n"), (PLAIN, "=?a?q?"),
        ("Content-Type: multipart/mixed; boundary=a\n\n", "--a\n\nx\n"),
    ],
    ".mbox": [
        (f"{MAIL_HEAD}\n", s) for s in ("From a\n", "\n\nFrom a 00:00\n")
    ],
    ".csv": [("text,label\nx,y\n", s) for s in ('a","b\n', '"a,b\n', '"', "a,b,c\n", "a\r", '"\n')],
    ".tsv": [
        ("text\tlabel\nx\ty\n", s) for s in ('a"\t"b\n', '"a\tb\n', 'a\t"b\n', '"', "a\tb\tc\n")
    ],
    ".jsonl": [('{"text": "x"}\n', s) for s in ("{\n", "[", '{"text":', '{"a":1}{"b":2}\n', "\n")],
    ".ft": [("", s) for s in ("__label__", "__label__x ", "__label__x\n", "\t")],
    ".txt": [("", s) for s in ("\n", "x", "\r", "\ufeff\n", "\xff ", "\xe9\xa0 ")],
}  # fmt: skip


def seconds_to_read(path: Path) -> float:
    """Return the processor time of reading all documents of a file, or of refusing it."""
    began = time.process_time()
    try:
        for batch in read_documents(path, on_error="skip", max_document_mb=1024):
            len(batch.texts)
    except DocumentError:
        pass
    return time.process_time() - began


def shape_times(folder: Path, sizes: list[int]) -> Iterator[tuple[str, list[float]]]:
    """Yield each shape with the processor seconds for files of these sizes."""
    for suffix, shapes in SHAPES.items():
        for head, repeated in shapes:
            path, seconds = folder / f"shape{suffix}", list[float]()
            for size in sizes:
                data = (head + repeated * (size // len(repeated))).encode("latin-1", "ignore")
                if "\ufeff" in repeated:
                    data = (head + repeated * (size // len(repeated))).encode()
                path.write_bytes(data)
                seconds.append(seconds_to_read(path))
                if 10 * seconds[-1] > MOST_SECONDS:
                    break
            name = f"{suffix[1:]}: {head[len(head) - 10 :] if len(head) < 30 else ''}{repeated}"
            yield ascii(name)[1:-1].replace("\\n", "↵")[:34], seconds


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the exponent of the size to which the time of the two largest is proportional."""
    if len(seconds) < 2 or min(seconds[-2:]) < 1e-3:
        return math.nan
    larger, smaller = sizes[len(seconds) - 1], sizes[len(seconds) - 2]
    return math.log(seconds[-1] / seconds[-2]) / math.log(larger / smaller)


def rows_of(n_bytes: int) -> Iterator[tuple[str, str]]:
    """Yield texts of about so many bytes in all, with labels."""
    chance, words = random.Random(0), [f"word{i}" for i in range(5000)]
    lines = [" ".join(chance.choices(words, k=60)) for _ in range(1000)]
    for i in range(n_bytes // 520):
        yield f"{lines[i % 1000]} {i}", "ab"[i % 2]


def write_large(folder: Path, n_bytes: int) -> dict[str, Path]:
    """Write a file of each format with the same documents."""
    writers: dict[str, Callable[[str, str], str]] = {
        "a.jsonl": lambda text, label: json.dumps({"text": text, "label": label}) + "\n",
        "a.csv": lambda text, label: f'"{text}",{label}\n',
        "a.tsv": lambda text, label: f"{text}\t{label}\n",
        "stray.tsv": lambda text, label: '"' * (text[-1] == "7") + f"{text}\t{label}\n",
        "cp1252.csv": lambda text, label: f"{text} Möbel;{label}\n",
        "a.txt": lambda text, label: f"{text}\n",
        "a.ft": lambda text, label: f"__label__{label} {text}\n",
        "a.mbox": lambda text, label: f"{MAIL_HEAD}Subject: {label}\n\n{text}\n\n",
    }  # fmt: skip
    heads = {"a.csv": "text,label\n", "a.tsv": "text\tlabel\n", "stray.tsv": "text\tlabel\n",
             "cp1252.csv": "text;label\n"}  # fmt: skip
    paths = {name: folder / name for name in writers}
    for name, path in paths.items():
        encoding = "cp1252" if name == "cp1252.csv" else "utf-8"
        with open(path, "w", encoding=encoding, newline="") as file:
            file.write(heads.get(name, ""))
            file.writelines(writers[name](*row) for row in rows_of(n_bytes))
    packed = paths["a.jsonl.gz"] = folder / "a.jsonl.gz"
    with open(paths["a.jsonl"], "rb") as file, gzip.open(packed, "wb", 1) as target:
        while data := file.read(1 << 20):
            target.write(data)
    paths["a.parquet"] = folder / "a.parquet"
    texts, labels = zip(*rows_of(n_bytes), strict=True)
    pq.write_table(pa.table({"text": texts, "label": labels}), paths["a.parquet"])
    return paths


def peak_memory(model: Path, path: Path) -> tuple[float, float]:
    """Return the peak memory in MB and the seconds of predicting a file in a new process."""
    command = [sys.executable, "-m", "thresher", "predict", str(model), str(path)]
    began, peak = time.perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None:
            with suppress(OSError, StopIteration):  # it has just ended
                lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
                peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
            time.sleep(0.005)
    if child.returncode:
        raise RuntimeError(f"{path.name}: predict failed ({child.returncode}).")
    return peak / 1024, time.perf_counter() - began


def draw(path: str, sizes: list[int], times: dict[str, list[float]]) -> None:
    """Draw the time against the size of the files of each shape."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(7, 5), layout="tight").subplots()
    for seconds in times.values():
        axes.loglog(sizes[: len(seconds)], seconds, color="tab:blue", alpha=0.4, linewidth=1)
    axes.loglog(sizes, [size * 1e-7 for size in sizes], "k:", label="proportional to the size")
    axes.set(xlabel="bytes", ylabel="processor seconds", title="Reading hostile files")
    axes.legend()
    axes.figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=100, help="size of large files; 0: none")
    parser.add_argument("--largest", type=int, default=10, help="MB of the largest hostile file")
    parser.add_argument("--plot", default="reading.svg", help="the file for the plot")
    options = parser.parse_args()
    sizes = [size for size in (10**4, 10**5, 10**6, 10**7) if size <= options.largest * 10**6]
    with tempfile.TemporaryDirectory() as name:
        folder, times = Path(name), dict[str, list[float]]()
        heading = "".join(f"{size / 1000:>10,.0f} kB" for size in sizes)
        print(f"{'shape':34}{heading}  exponent")
        for shape, seconds in shape_times(folder, sizes):
            times[shape] = seconds
            cells = "".join(f"{value:11.3f} s" for value in seconds)
            print(
                f"{shape:34}{cells:{13 * len(sizes)}}  {exponent(sizes, seconds):8.2f}", flush=True
            )
        draw(options.plot, sizes, times)
        if not options.megabytes:
            return
        model = folder / "model"
        texts, labels = zip(*rows_of(500_000), strict=True)
        Categorizer(preset="fast").fit(list(texts), list(labels)).save(model)
        print(f"\n{'format':12}{'MB':>8}{'peak MB':>10}{'ratio':>8}{'seconds':>9}")
        base = 0.0
        for file, path in write_large(folder, options.megabytes * 10**6).items():
            memory, seconds_taken = peak_memory(model, path)
            base = base or memory
            size = path.stat().st_size / 1e6
            print(
                f"{file:12}{size:8.0f}{memory:10.0f}{memory / base:8.2f}{seconds_taken:9.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
