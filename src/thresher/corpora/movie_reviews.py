"""Movie reviews, polarity data set 1.0: the 1,400 reviews of 2002."""

from __future__ import annotations

from thresher.corpora._archive import members
from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import CorpusInfo, File, Form, Paths

__all__ = ["CORPORA"]

HOME = "https://www.cs.cornell.edu/people/pabo/movie-review-data/"
MEMBERS = r"(tokens/(?:pos|neg)/[^/]+\.txt)$"
ARCHIVE = File(
    "movie-reviews",
    (
        Form("mix20_rand700_tokens.zip", f"{HOME}mix20_rand700_tokens.zip"),
        Form(
            "mix20_rand700_tokens.tar.gz",
            size=2_208_600,
            sha256="c591263d1d65ff1230a1384c12aaabc5e6afe2606b8fb47a7573ffd51dc50d66",
        ),
    ),
    contents="0b247b981db2194c10c2b95c7681ec8865f06a4d962bfa685dfab6e5ff46fecf",
    members=MEMBERS,
)


def read(paths: Paths, variant: str) -> Corpus:
    """Return the negative, then the positive reviews, each sorted by name."""
    reviews = Split()
    for name, content in sorted(members(paths[0], MEMBERS)):
        reviews.append(content.decode("latin-1"), [name.split("/")[-2]], name)
    return Corpus({"all": reviews}, positive="pos")


CORPORA = (
    CorpusInfo(
        name="movie-reviews",
        title="Movie review polarity, version 1.0 (1,400 reviews)",
        summary=(
            "700 positive and 700 negative reviews, lower-cased and tokenised; some still contain "
            "their rating in stars. Sorted by class: shuffle before learning in one pass."
        ),
        home=HOME,
        licence="No formal licence; to be cited. The texts belong to their authors.",
        citation="B. Pang, L. Lee and S. Vaithyanathan, Thumbs up?, EMNLP 2002",
        files=(ARCHIVE,),
        counts={"v1.0": {"all": 1_400}},
        read=read,
        verified_by="the sha256 of each review; take the authors' archive from its page yourself",
    ),
)
