"""river: one document at a time, as dictionaries; slow enough to be asked for fewer of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.peers import data
from benchmarks.peers.case import Case
from benchmarks.peers.jobs import Contender

NEEDS = ("river.compose", "river.feature_extraction", "river.linear_model")
SAMPLE = 1_000  # documents


def one_pass(case: Case, learner: str) -> dict[str, float]:
    """Time a pass over the first documents; the seconds are those of all at the same pace."""
    from river import linear_model

    rows, truth = case.rows()
    sample = min(SAMPLE, rows.shape[0])
    documents = []
    for i in range(sample):
        row = slice(rows.indptr[i], rows.indptr[i + 1])
        features = zip(rows.indices[row].tolist(), rows.data[row].tolist(), strict=True)
        documents.append((dict(features), bool(truth[i, 0])))

    def work() -> None:
        model = getattr(linear_model, learner)()
        for features, positive in documents:
            model.learn_one(features, positive)

    figures = case.best(work)
    figures["examples_per_second"] = sample / figures["seconds"]
    return figures | {"seconds": rows.shape[0] / figures["examples_per_second"]}


def document(case: Case) -> dict[str, float]:
    """Time one document and one category."""
    from river import compose, feature_extraction, linear_model

    model: Any = compose.Pipeline(
        feature_extraction.BagOfWords(), linear_model.PAClassifier(mode=1)
    )
    texts, labels = data.read(case.train)
    first = labels[0][0]
    for text, names in zip(texts[:SAMPLE], labels[:SAMPLE], strict=True):
        model.learn_one(text, first in names)
    return case.each(model.predict_one)


def startup(case: Case) -> dict[str, float]:
    """Time the import; it has no model file to load but a pickle."""
    return {"to_import": case.run_python("from river import feature_extraction, linear_model")}


ONE = "one category"
CONTENDERS = (
    Contender("document", "river, one category only", document),
    Contender("pass", "river, perceptron", partial(one_pass, learner="Perceptron"), variants=ONE),
    Contender(
        "pass", "river, passive-aggressive", partial(one_pass, learner="PAClassifier"), variants=ONE
    ),
    Contender("startup", "river", startup),
)
