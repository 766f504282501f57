"""A reader follows the arrow from left to right: which room may import from which."""

import ast
from pathlib import Path

import thresher

SOURCE = Path(thresher.__file__).parent

# Each room with the rooms it may import from, wherever in its files the import stands.
FOUNDATION = {
    "_arrays", "_fields", "_files", "_limits", "_newton", "_places", "_room", "_version", "errors",
    "parameters", "rows", "storage",
}  # fmt: skip
ALLOWED = {
    "_kernels": {"_places", "errors"},
    "_limits": set(),
    "_version": set(),
    "_arrays": set(),
    "_newton": set(),
    "_lock": set(),
    "errors": set(),
    "_formats": set(),
    "_process": {"errors"},
    "_room": {"errors"},
    "_fields": {"errors"},
    "_files": {"errors"},
    "_places": {"errors"},
    "parameters": {"_limits", "errors"},
    "rows": {"errors"},
    "storage": {"_limits", "errors", "_version", "_files"},
    "_spool": {"_kernels", "rows"},
    "examples": {"_spool", "rows"},
    "_ranking": {"errors", "rows"},
    "assumptions": {"errors", "rows"},
    "linguistics": FOUNDATION,
    "documents": {"_formats", *FOUNDATION},
    "corpora": {"documents", *FOUNDATION},
    "text": {"_kernels", "linguistics", *FOUNDATION},
    "features": {"_kernels", "text", "examples", *FOUNDATION},
    "learners": {"_kernels", "examples", *FOUNDATION},
    "evaluation": {"_ranking", *FOUNDATION},
    "second_look": {"_kernels", *FOUNDATION},
    "decisions": {"_kernels", "_ranking", "evaluation", *FOUNDATION},
    "categories": FOUNDATION,
    "_format1": {"text", "errors"},
    "training": {
        "_spool", "assumptions", "categories", "corpora", "decisions", "documents", "evaluation",
        "examples", "features", "learners", "rehearsal", "second_look", *FOUNDATION,
    },
    "rehearsal": {"examples", *FOUNDATION},
    "feedback": {
        "decisions", "documents", "examples", "learners", "rehearsal", "second_look", "training",
        *FOUNDATION,
    },
    "explanation": {"features", "text", "training", "report", *FOUNDATION},
    "results": {"documents", *FOUNDATION},
    "compaction": {
        "decisions", "evaluation", "features", "learners", "second_look", "training", *FOUNDATION,
    },
    "_frozen": {"_kernels", "decisions", "text", "training"},
    "categorizer": {
        "_format1", "_frozen", "_lock", "assumptions", "categories", "compaction", "decisions",
        "documents", "evaluation", "explanation", "features", "feedback", "learners",
        "linguistics", "rehearsal", "results", "second_look", "text", "training", *FOUNDATION,
    },
    "concept_view": {"categorizer", "explanation", "features", "training", *FOUNDATION},
    "experiments": {
        "_spool", "assumptions", "categorizer", "evaluation", "examples", "features",
        "linguistics", "text", "training", *FOUNDATION,
    },
    "report": {
        "_ranking", "categorizer", "concept_view", "corpora", "decisions", "documents",
        "evaluation", "experiments", "explanation", "training", *FOUNDATION,
    },
    "papers": {
        "categorizer", "corpora", "decisions", "documents", "evaluation", "examples",
        "experiments", "features", "learners", "linguistics", "report", "text", "training",
        *FOUNDATION,
    },
}  # fmt: skip
ENDS = {"cli", "__main__", "__init__"}  # they may see everything, and nothing may see them


def imports():
    """Yield (room, imported room, file, line) for every import of ours, types aside."""
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        typing_only = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if node in typing_only:
                continue
            names = []
            if isinstance(node, ast.ImportFrom) and node.module == "thresher":
                names = [f"thresher.{one.name}" for one in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            elif isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            for name in names:
                parts = name.split(".")
                if parts[0] == "thresher" and len(parts) > 1 and parts[1] != room:
                    yield room, parts[1], path, node.lineno


def test_rooms_import_only_from_the_rooms_before_them():
    seen = list(imports())
    assert len(seen) > 200
    wrong = [
        f"{path.relative_to(SOURCE)}:{line} {room} imports {other}"
        for room, other, path, line in seen
        if room not in ENDS and other not in ALLOWED.get(room, ())
    ]
    assert not wrong, "\n".join(wrong)


def test_the_allowed_directions_have_no_circle():
    """But for one: a notebook draws an explanation, which the report knows how to do."""
    remaining = {room: set(others) for room, others in ALLOWED.items()}
    remaining["explanation"].discard("report")
    while remaining:
        free = {room for room, others in remaining.items() if not others & set(remaining)}
        assert free, f"a circle among {sorted(remaining)}"
        remaining = {room: others for room, others in remaining.items() if room not in free}


def test_every_room_is_known():
    rooms = {p.name.removesuffix(".py") for p in SOURCE.iterdir() if p.suffix in ("", ".py")}
    assert rooms - ENDS - {"__pycache__", "stopwords"} <= set(ALLOWED)


def test_names_say_what_a_thing_is():
    """Not that it was found, made, said or told."""
    empty = {"found", "made", "said", "told"}
    used = [
        f"{path.name}:{node.lineno}"
        for folder in (SOURCE, Path(__file__).parent)
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (getattr(node, field, None) for field in ("id", "arg", "attr", "name"))
        if name in empty
    ]
    assert not used
