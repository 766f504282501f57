"""Models whose arrays are all read-only give the same answers, and learn on with private copies."""

import json
from pathlib import Path

import numpy as np
import pytest

from thresher import Categorizer
from thresher.errors import ThresherError
from thresher.model import storage

FOLDER = Path(__file__).parents[1] / "golden"
TEXTS = json.loads((FOLDER / "v1.json").read_text(encoding="utf-8"))["unseen"]
MODELS = sorted(
    path
    for pattern in ("v[23]-*-several.thresher", "looked*.thresher")
    for path in FOLDER.glob(pattern)
)


def answers(model):
    """Return all that can be asked of a model, read in a batch and text by text."""
    scores = model.scores(TEXTS)
    for _ in range(4):  # after some of them, the reader of single texts is compiled
        assert (
            np.concatenate([model.scores([text]) for text in TEXTS]).tobytes() == scores.tobytes()
        )
    probabilities = None
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(TEXTS).tobytes()
    return scores.tobytes(), model.predict(TEXTS), str(model.explain(TEXTS[0])), probabilities


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_read_only_arrays_give_the_same_answers(path, monkeypatch):
    read_model = storage.read_model

    def read_only(*args, **options):
        header, tensors = read_model(*args, **options)
        for tensor in tensors.values():
            tensor.setflags(write=False)
        return header, tensors

    model = Categorizer.load(path)
    monkeypatch.setattr(storage, "read_model", read_only)
    frozen = Categorizer.load(path)
    assert answers(frozen) == answers(model)
    lesson = TEXTS[:5], [["oil"]] * 5
    try:
        model.learn(*lesson)
    except ThresherError:  # compacted, or a learner that cannot learn on
        return
    frozen.learn(*lesson)
    assert answers(frozen) == answers(model)
