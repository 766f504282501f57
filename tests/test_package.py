"""The public interface of the package, and its contents."""

import subprocess
import sys
import tomllib
import typing
import zlib
from pathlib import Path

import numpy as np
import pytest

import thresher
from thresher.parameters import Choice, Estimator
from thresher.rows import Labels, Rows

ROOT = Path(__file__).parents[1]
# The cache of compiled kernels uses pickles, the only format of Numba. That is safe: whoever can
# write them could also change the source, and files of other users are not read.
KEPT_CODE = ROOT / "src/thresher/_kernels/_cache.py"


def test_every_public_name_is_there():
    for name in thresher.__all__:
        assert getattr(thresher, name) is not None
    assert len(set(thresher.__all__)) == len(thresher.__all__) <= 54
    assert set(dir(thresher)) == set(thresher.__all__)


def test_every_learner_is_public():
    learners = [
        learner
        for learner in thresher.LEARNERS.values()
        if learner.__module__.startswith("thresher.")
    ]
    assert len(learners) >= 10
    for learner in learners:
        assert getattr(thresher, learner.__name__) is learner


def test_words_that_are_choices_are_typed_as_such():
    """So that editors suggest them, and type checkers refuse other values."""
    n_choices = 0
    for name in thresher.__all__:
        estimator = getattr(thresher, name)
        if not (isinstance(estimator, type) and issubclass(estimator, Estimator)):
            continue
        hints = typing.get_type_hints(estimator)
        for field_name, field in estimator.parameters.items():
            if isinstance(field.kind, Choice):
                n_choices += 1
                parts = typing.get_args(hints[field_name])
                words = {word for item in parts for word in typing.get_args(item) or [item]}
                choices = {type(None) if word is None else word for word in field.kind.choices}
                assert words == choices, f"{name}.{field_name}: {hints[field_name]}"
    assert n_choices > 30


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="Magic"):
        thresher.Magic  # noqa: B018


def test_importing_costs_nothing():
    code = "import sys, thresher; assert not {'numpy', 'numba', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_kernels_import_nothing_of_ours():
    """They take arrays and numbers, never objects, and could be translated to C."""
    for path in set((ROOT / "src/thresher/_kernels").rglob("*.py")) - {KEPT_CODE}:
        for line in path.read_text().splitlines():
            if line.startswith(("import thresher", "from thresher")):
                assert line.startswith("from thresher._kernels"), f"{path}: {line}"


def test_no_pickle_in_the_product():
    for path in set((ROOT / "src").rglob("*.py")) - {KEPT_CODE}:
        assert "import pickle" not in path.read_text(), path


def test_the_readme_names_the_two_commands():
    readme = (ROOT / "README.md").read_text()
    assert "make demo" in readme and "make test" in readme


def test_the_version_is_one_that_packaging_understands():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["dynamic"] == ["version"]
    assert thresher.__version__.count(".") == 2


# Rows and labels ---------------------------------------------------------------------------------


@pytest.fixture
def rows():
    indptr = np.array([0, 2, 2, 5])
    indices = np.array([4, 1, 0, 2, 4], np.int32)
    return Rows(indptr, indices, np.arange(1, 6, dtype=np.float32), 5)


def test_rows_become_a_scipy_matrix_and_stay_as_they_were(rows):
    dense = [[0, 2, 0, 0, 1], [0, 0, 0, 0, 0], [3, 0, 4, 0, 5]]
    for _ in range(2):
        matrix = rows.to_scipy()
        assert matrix.indices.dtype == np.int32
        np.testing.assert_array_equal(matrix.toarray(), dense)


def test_rows_are_taken_in_any_order(rows):
    np.testing.assert_array_equal(
        rows.take(np.array([2, 0, 2])).to_scipy().toarray(), rows.to_scipy().toarray()[[2, 0, 2]]
    )


@pytest.mark.parametrize("renumber", [True, False])
def test_columns_are_left_out(rows, renumber):
    is_kept = np.array([True, False, True, False, True])
    dense = rows.to_scipy().toarray()
    expected = dense[:, is_kept] if renumber else np.where(is_kept, dense, 0)
    np.testing.assert_array_equal(rows.keep(is_kept, renumber).to_scipy().toarray(), expected)


def test_rows_are_stacked(rows):
    both = Rows.concatenate([rows, rows._replace(n_columns=7)])
    assert both.n_columns == 7 and both.n_rows == 6
    np.testing.assert_array_equal(both.to_scipy().toarray()[3:, :5], rows.to_scipy().toarray())


def test_labels_in_all_their_forms():
    labels = Labels.from_lists([[1], [], [0, 2]], 3)
    dense = [[0, 1, 0], [0, 0, 0], [1, 0, 1]]
    np.testing.assert_array_equal(labels.to_dense(), dense)
    np.testing.assert_array_equal(labels.take(np.array([2, 1])).to_dense(), [dense[2], dense[1]])
    both = Labels.concatenate([labels, Labels.from_lists([[3]], 4)])
    assert both.n_categories == 4 and both.n_rows == 4


def test_what_is_imported_late_is_listed_too():
    """So that the reference and interactive users find it."""
    from thresher import learners

    assert set(learners.__all__) <= set(dir(learners))
    assert all(getattr(learners, name) is not None for name in learners.__all__)


# What is installed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "package", "most_bytes"),
    [(".", "thresher", 670_000), ("papers", "thresher_papers", 200_000)],
)
def test_the_wheel_holds_its_package_and_nothing_else(folder, package, most_bytes):
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT / folder))
    files = {file.distribution_path: Path(file.path) for file in builder.recurse_included_files()}
    assert f"{package}/__init__.py" in files and f"{package}/py.typed" in files
    assert all(name.startswith(f"{package}/") for name in files), sorted(files)
    assert sum(len(zlib.compress(path.read_bytes())) for path in files.values()) < most_bytes


def test_the_library_needs_no_line_of_the_papers():
    """It may name the package of the papers, but nothing in it."""
    for path in (ROOT / "src/thresher").rglob("*.py"):
        assert "thresher_papers" not in path.read_text(encoding="utf-8"), path


def test_the_papers_are_released_with_the_library():
    """They use private modules of the library, which may change in any version."""
    project = tomllib.loads((ROOT / "papers/pyproject.toml").read_text())["project"]
    assert project["version"] == thresher.__version__
    assert project["dependencies"][0].endswith(f"=={thresher.__version__}")
    assert (ROOT / "papers/LICENSE").read_text() == (ROOT / "LICENSE").read_text()
