"""The rooms of the package, and the rooms that each may import from."""

import ast
from pathlib import Path

import thresher

SOURCE = Path(thresher.__file__).parent
ROOT = Path(__file__).parents[1]

# Each room with the rooms that it may import from, anywhere in its files.
FOUNDATION = {
    "engine", "errors", "fields", "files", "limits", "parameters", "rows", "state",
}  # fmt: skip
ALLOWED = {
    "_kernels": {"files", "errors"},
    "errors": set(),
    "fields": {"errors"},
    "files": {"errors"},
    "limits": {"errors"},
    "parameters": {"limits", "errors"},
    "rows": {"errors"},
    "state": {"limits", "errors"},
    "examples": {"_kernels", "rows"},
    "engine": {"limits", "errors"},
    "documents": FOUNDATION,
    "corpora": {"documents", *FOUNDATION},
    "text": {"_kernels", *FOUNDATION},
    "features": {"_kernels", "text", "examples", *FOUNDATION},
    "learners": {"_kernels", "examples", *FOUNDATION},
    "evaluation": FOUNDATION,
    "decisions": {"_kernels", "evaluation", "learners", *FOUNDATION},
    "model": {
        "_kernels", "corpora", "decisions", "documents", "evaluation", "examples", "features",
        "learners", "report", "text", *FOUNDATION,
    },
    "answers": {"documents", "model", *FOUNDATION},
    "categorizer": {
        "answers", "decisions", "documents", "evaluation", "features", "learners", "model", "text",
        *FOUNDATION,
    },
    "experiments": {
        "categorizer", "evaluation", "examples", "features", "model", "text", *FOUNDATION,
    },
    "report": {
        "categorizer", "corpora", "decisions", "documents", "evaluation", "experiments",
        "features", "learners", "model", *FOUNDATION,
    },
}  # fmt: skip
ENDS = {"cli", "__main__", "__init__"}  # may import everything; nothing may import them


def imports():
    """Yield (room, imported room, file, line) of each import in the package, except types."""
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
                names = [f"thresher.{name.name}" for name in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            elif isinstance(node, ast.Import):
                names = [name.name for name in node.names]
            for name in names:
                parts = name.split(".")
                if parts[0] == "thresher" and parts[1:2] not in ([], [room], ["__version__"]):
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
    """With one exception: explanations draw themselves in notebooks with the help of the report."""
    remaining = {room: set(others) for room, others in ALLOWED.items()}
    remaining["model"].discard("report")
    while remaining:
        free = {room for room, others in remaining.items() if not others & set(remaining)}
        assert free, f"a circle among {sorted(remaining)}"
        remaining = {room: others for room, others in remaining.items() if room not in free}


def test_every_room_is_known():
    rooms = {p.name.removesuffix(".py") for p in SOURCE.iterdir() if p.suffix in ("", ".py")}
    assert rooms - ENDS - {"__pycache__"} <= set(ALLOWED)


EMPTY = {"found", "made", "said", "told"}
VAGUE = {"one", "own", "kept", "part", "theirs", "ours", "wanted"}
PUBLIC = {"explanation.py": {"own"}}  # `Share.own`, which JSON results contain


def uses_of(names, *folders):
    """Return where variables, parameters, attributes or functions have one of the names."""
    return [
        f"{path.name}:{node.lineno}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (getattr(node, field, None) for field in ("id", "arg", "attr", "name"))
        if name in names - PUBLIC.get(path.name, set())
    ]


def test_names_say_what_a_thing_is():
    """No variable, parameter or function has a name that says nothing about it."""
    assert not uses_of(EMPTY, SOURCE, ROOT / "tests", ROOT / "papers")
    assert not uses_of(VAGUE, SOURCE, ROOT / "fuzz", ROOT / "papers/src")
