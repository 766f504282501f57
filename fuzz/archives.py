"""Corpora in damaged or malicious archives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from fuzz.campaign import Attack, Case
from thresher.corpora import describe
from thresher.corpora._archive import members, read_bytes
from thresher.corpora._fetch import contents_digest
from thresher.corpora._registry import parse_options

STORY = (
    '<REUTERS TOPICS="YES" LEWISSPLIT="{split}" CGISPLIT="TRAINING-SET" OLDID="{n}" NEWID="{n}">'
    "<TOPICS><D>grain</D><D>corn</D></TOPICS><PLACES></PLACES><PEOPLE></PEOPLE><ORGS></ORGS>"
    "<EXCHANGES></EXCHANGES><TEXT><TITLE>WHEAT &lt;CO></TITLE><BODY>Wheat fell.</BODY></TEXT>"
    "</REUTERS>"
)
ARTICLE = (
    "<PubmedArticle><MedlineCitation><PMID>{n}</PMID><Article><ArticleTitle>Wheat</ArticleTitle>"
    "<Abstract><AbstractText>It <i>fell</i>.</AbstractText></Abstract><Language>eng</Language>"
    "</Article><MeshHeadingList><MeshHeading><DescriptorName MajorTopicYN='Y'>Triticum"
    "</DescriptorName></MeshHeading></MeshHeadingList></MedlineCitation></PubmedArticle>"
)
MESSAGE = (
    "From: ann@x.org (Ann Lee)\n\n#reply#> Why?\nBecause.\n#sig# -- \n#sig# Ann Lee, 555-1234\n"
)
RARE = (
    b"",
    b"\0",
    b"-1",
    b"9" * 5000,
    b"nan",
    b"1e999",
    b"\xff\xfe",
    b"\r",
    b'"',
    b",",
    b"?",
    b"<",
)
Files = dict[str, bytes]


def files_of(name: str, rng: random.Random) -> list[Files | bytes]:
    """Return small contents of each file of a corpus: members by name, or a table."""
    n = range(1, rng.randint(2, 6))
    text = b"wheat and corn\n\n> why\n--\nme"
    stories = "".join(STORY.format(n=i, split=rng.choice(["TRAIN", "TEST"])) for i in n)
    articles = "".join(ARTICLE.format(n=i) for i in n)
    mail: Files = {f"bare/part{i}/{i}-spmsg.txt": b"Subject: wheat\n\nwheat" for i in n}
    adult = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, "
    adult += "White, Male, 2174, 0, 40, United-States, <=50K\n"
    tables = {
        "congressional": "republican,n,y,n,y,y,y,n,n,n,y,?,y,y,y,n,y\n",
        "credit": "b,30.83,0,u,g,w,v,1.25,t,t,01,f,g,00202,0,+\n",
        "nursery": "usual,proper,complete,1,convenient,convenient,nonprob,priority,priority\n",
        "wisconsin": "1000025,5,1,1,1,2,1,3,1,1,2\n",
    }
    if name in tables:
        return [(tables[name] * len(n)).encode()]
    names = "height: continuous.\nwidth: continuous.\nurl*x : 0,1.\n"
    others: dict[str, list[Files | bytes]] = {
        "adult": [(adult * len(n)).encode(), (adult * len(n)).replace("50K", "50K.").encode()],
        "ads": [{"ad.data": b"125, 125,1,ad.\n   ?,2,0,nonad.\n", "ad.names": names.encode()}],
        "20newsgroups": [{f"20news-bydate-train/sci.med/{i}": text for i in n}],
        "imdb": [{f"aclImdb/train/pos/{i}_7.txt": text for i in n}],
        "ling-spam": [mail],
        "medline": [f"<PubmedArticleSet>{articles}</PubmedArticleSet>".encode()],
        "movie-reviews": [{f"tokens/pos/cv{i}.txt": text for i in n}],
        "nigerian": [b'label,body\n1,"Dear, friend"\n0,see you\n', mail],
        "ohsumed23": [{f"training/C0{i}/{i}": text for i in n}],
        "reuters21578": [{"reut2-000.sgm": stories.encode()}],
    }
    return others.get(name) or [{f"sigPlusReply/{i}_R_S": MESSAGE.encode() for i in n}]


CORPORA = ("adult", "ads", "congressional", "credit", "nursery", "wisconsin", "20newsgroups")
CORPORA += ("imdb", "ling-spam", "medline", "movie-reviews", "nigerian", "ohsumed23")
CORPORA += ("reuters21578", "signature", "reply")
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1, mtime=0),
    "bz2": lambda data: bz2.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
    "": lambda data: data,
}


def mutated(rng: random.Random, data: bytes, times: int) -> bytes:
    """Return the data with some bytes changed, removed, repeated or inserted."""
    new = bytearray(data)
    for _ in range(times):
        start = rng.randrange(len(new) + 1)
        end = min(len(new), start + rng.choice([1, 1, 2, 4, 8, 40, 512]))
        new[start:end] = rng.choice(
            [rng.randbytes(end - start), b"", new[start:end] * 2, rng.choice(RARE), b"\0", b"\xff"]
        )
    return bytes(new)


def odd_name(rng: random.Random, name: str) -> str:
    """Return another name for a member, possibly an invalid one."""
    rest = ["", ".", "..", "/", "../" + name, "/" + name, "C:\\" + name, name + "/", "./" + name]
    rest += [
        name.replace("1", "9" * 400),
        name.replace("1", "\u0661"),
        name + "\0x",
        "\udcff" + name,
    ]
    return rng.choice([*rest, name.upper(), name + "\n", name.replace("/", "\\"), "é" + name])


def tar(rng: random.Random, files: Files, damage: str) -> bytes:
    """Return a tar archive of files, with false headers if requested."""
    stream = io.BytesIO()
    kinds = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
    with tarfile.open(
        fileobj=stream, mode="w", format=rng.choice(kinds), errors="surrogateescape"
    ) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            if damage == "members" and rng.random() < 0.3:
                member.type = rng.choice([*(b"%d" % i for i in range(8)), b"S", b"L", b"K", b"V"])
                member.linkname = rng.choice(["x", "../x", "/x", name, ""])
            if damage == "members" and rng.random() < 0.2:
                keys = ["size", "path", "GNU.sparse.size", "GNU.sparse.map", "GNU.sparse.name"]
                keys += ["GNU.sparse.major", "GNU.sparse.minor", "mtime", "hdrcharset", "uid"]
                values = ["-1", "9" * 30, "x", "1,2,3", "0", "1", "BINARY", "nan", "../x"]
                member.pax_headers = {rng.choice(keys): rng.choice(values) for _ in range(3)}
            try:
                archive.addfile(member, io.BytesIO(content))
            except ValueError:  # a name that this format cannot hold
                archive.addfile(tarfile.TarInfo("x"))
    data = bytearray(stream.getvalue())
    if damage == "headers":
        for _ in range(rng.randint(1, 3)):
            start = 512 * rng.randrange(len(data) // 512)
            place, width = rng.choice(
                [(0, 100), (100, 8), (124, 12), (136, 12), (156, 1), (257, 8)]
            )
            lies = [b"\x80" + b"\xff" * 11, b"\xff" * 12, b"77777777777\0", b"-1\0", b"\xff\xfe9\0"]
            lies += [b"\0" * width, rng.randbytes(width), b"gxLKSVDMN567"[rng.randrange(12) :]]
            lie = rng.choice(lies)[:width]
            data[start + place : start + place + len(lie)] = lie
            block = data[start : start + 512]
            block[148:156] = b" " * 8
            data[start + 148 : start + 156] = b"%06o\0 " % sum(block)
    return PACKERS[rng.choice(list(PACKERS))](bytes(data))


def zipped(rng: random.Random, files: Files, damage: str) -> bytes:
    """Return a zip archive of files, with false directories if requested."""
    stream = io.BytesIO()
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name.encode("utf-8", "replace").decode() or "x")
            method = rng.choice(methods if damage == "members" else methods[:2])
            archive.writestr(member, content, method)
    data = bytearray(stream.getvalue())
    if damage == "headers":
        marks = {b"PK\x01\x02": (46, 4), b"PK\x03\x04": (30, 4), b"PK\x05\x06": (22, 4)}
        for _ in range(rng.randint(1, 4)):
            mark = rng.choice(list(marks))
            places = [i for i in range(len(data)) if data.startswith(mark, i)]
            size, first = marks[mark]
            place = rng.choice(places) + rng.randrange(first, size, 2)
            lies = [0, 1, 8, 9, 12, 99, 0xFFFF, rng.randrange(1 << 16)]
            data[place : place + 2] = struct.pack("<H", rng.choice(lies))
            if rng.random() < 0.2:
                data[place + 2 : place + 4] = b"\xff\xff"
    return bytes(data)


def attack(rng: Case, folder: Path) -> str:
    """Read a corpus whose files are damaged in one of several ways."""
    name = rng.choice(CORPORA)
    info = describe(name)
    kinds = ["members", "headers", "contents", "bytes", "names", "none"]
    damage = "bomb" if rng.random() < 0.02 else rng.choice(kinds)
    paths = []
    for i, content in enumerate(files_of(name, rng)):
        if isinstance(content, dict):
            if damage == "contents":
                content = {k: mutated(rng, v, rng.randint(1, 4)) for k, v in content.items()}
            if damage == "names":
                content = {
                    odd_name(rng, k) if rng.random() < 0.5 else k: v for k, v in content.items()
                }
            if damage == "bomb":
                content[next(iter(content))] = bytes(rng.choice([1 << 16, 1 << 23, 1 << 24]))
            packed = rng.choice([tar, zipped])(rng, content, damage)
        else:
            if damage in ("contents", "names", "members", "headers"):
                content = mutated(rng, content, rng.randint(1, 4))
            if damage == "bomb":
                content *= 1 << 10
            packed = PACKERS[rng.choice(list(PACKERS))](content)
        if damage == "bytes":
            packed = mutated(rng, packed, rng.randint(1, 6))
        paths.append(folder / f"{i}.packed")
        paths[-1].write_bytes(packed)
    if rng.random() < 0.3:
        for file, path in zip(info.files, paths, strict=True):
            contents_digest(path, file)
            if file.members:
                assert all(isinstance(item, bytes) for _, item in members(path))
            else:
                assert isinstance(read_bytes(path), bytes)
        return "digested"
    variant = rng.choice(info.variants)
    corpus = info.read_files(paths, variant, **parse_options(info, {}))
    assert damage != "none" or sum(corpus.counts().values()), (
        "an undamaged corpus gave no documents"
    )
    return "read"


ATTACKS = (Attack("archives", "mutated archives of corpora", attack, cases=5_000),)
