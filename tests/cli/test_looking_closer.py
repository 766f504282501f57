"""Looking closer: one document explained as it was scored, errors, hold-outs, splits, searches."""

import bz2
import gzip
import json
import random
import sys
from datetime import date, timedelta
from email.message import EmailMessage
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from command import TICKETS, run, runner
from thresher import BalancedWinnow, Categorizer, cross_validate, read_documents
from thresher.cli._finding import Finder
from thresher.cli.main import app
from thresher.evaluation.folds import hold_out
from thresher.learners import LEARNERS, make_learner
from thresher.rows import Labels

QUOTED = """id,subject,body,team
7,printer,"out of toner,
and it jams",hardware

8,"my ""new"" screen","the monitor
flickers
a lot",hardware
9,password,cannot log in to my account,access
10,login,account is locked,access
11,invoice,charged twice,billing
11,refund,please refund the second invoice,billing
"""


def both(*words):
    """Run the command line; return its output and what it said."""
    result = runner.invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.stderr
    return result.stdout, result.stderr


def mail(subject, body):
    message = EmailMessage()
    message["Subject"], message["Message-ID"] = subject, f"<{subject}@example.org>"
    message.set_content(f"Grüße, {body}", charset="iso-8859-1", cte="base64")
    return message.as_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same tickets in every format."""
    folder = tmp_path_factory.mktemp("closer")
    (folder / "t.csv").write_text(QUOTED)
    objects = [
        {"id": i, "subject": s, "body": b, "team": t} for i, (s, b, t) in enumerate(TICKETS, 1)
    ]
    lines = [json.dumps(one) for one in objects]
    lines.insert(2, "")
    (folder / "t.jsonl").write_text("\n".join(lines) + "\n")
    pa.parquet.write_table(pa.Table.from_pylist(objects), folder / "t.parquet", row_group_size=2)
    (folder / "t.ft").write_text("".join(f"__label__{t} {s} {b}\n" for s, b, t in TICKETS))
    (folder / "t.txt").write_text("".join(f"{s} {b}\n" for s, b, _ in TICKETS))
    (folder / "one.txt").write_text("my password is gone\n")
    (folder / "one.eml").write_bytes(mail("login", "my account is locked"))
    box = b"".join(
        b"From a@b Mon Jan  1 10:00:00 2024\n" + mail(s, b) + b"\n" for s, b, _ in TICKETS
    )
    (folder / "t.mbox").write_bytes(box)
    (folder / "notes").mkdir()
    (folder / "notes/a.txt").write_text("out of toner\nand it jams\n")
    (folder / "notes/b.eml").write_bytes(mail("refund", "the invoice"))
    train = ("train", folder / "t.csv", "--labels", "team", "--fast", "-o")
    run(*train, folder / "plain", "--text", "subject,body")
    run(*train, folder / "fields", "--fields", "subject,body")
    return folder


# One document ------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["plain", "fields"])
@pytest.mark.parametrize(
    "name", ["t.csv", "t.jsonl", "t.parquet", "t.ft", "t.txt", "t.mbox", "one.txt", "one.eml"]
)
def test_what_is_explained_is_what_was_scored(folder, name, model):
    """To the last bit, for every document of every format, by the place that predict prints."""
    categorizer = Categorizer.load(folder / model)
    finder = Finder(categorizer, None, None)
    printed = run("predict", folder / model, folder / name, "--json", "--scores").splitlines()
    assert len(printed) == (1 if "one" in name else 6)
    for line in map(json.loads, printed):
        place, text = finder.find(line["document"])
        assert place == line["document"]
        assert list(line["scores"]) == categorizer.categories_
        scores = np.float32(list(line["scores"].values()))
        assert np.array_equal(scores, categorizer.scores([text])[0])
    last = json.loads(run("explain", folder / model, place, "--json"))
    assert last["document"] == place
    best = max(line["scores"], key=line["scores"].get)
    assert last["category"] == best
    assert last["score"] + last["threshold"] == pytest.approx(line["scores"][best], abs=1e-6)


def test_the_fields_of_a_row_are_told_apart(folder):
    finder = Finder(Categorizer.load(folder / "fields"), None, None)
    assert finder.find(f"{folder}/t.csv:9").text == "\x1elogin\x1eaccount is locked"


def test_files_of_a_folder_are_whole_documents(folder):
    printed = run("predict", folder / "plain", folder / "notes", "--json", "--scores")
    categorizer = Categorizer.load(folder / "plain")
    for line in map(json.loads, printed.splitlines()):
        explanation = json.loads(run("explain", folder / "plain", line["document"], "--json"))
        best = max(line["scores"], key=line["scores"].get)
        assert explanation["category"] == best
        assert explanation["score"] == pytest.approx(line["scores"][best], abs=1e-6)
    text, said_so = both("explain", folder / "plain", folder / "notes/a.txt")
    assert "out of toner" in text and "it jams" in text
    assert "taken as one document, as in a folder" in said_so
    assert categorizer.explain("toner").category == "hardware"


def test_a_row_may_be_named_as_a_line_or_by_its_id(folder):
    row = json.loads(run("explain", folder / "plain", f"{folder}/t.parquet:3", "--json"))
    assert row["document"] == f"{folder}/t.parquet, row 3"
    for name in ("t.parquet", "t.jsonl"):
        words = ("explain", folder / "plain", folder / name, "--json", "--id")
        by_id = json.loads(run(*words, "3"))
        assert by_id["shares"] == row["shares"] == json.loads(run(*words, "id=3"))["shares"]
    words = ("explain", folder / "plain", folder / "t.csv", "--json", "--id", "subject=login")
    assert json.loads(run(*words))["document"] == f"{folder}/t.csv:9"
    words = ("explain", folder / "plain", folder / "t.mbox", "--id")
    assert "account" in run(*words, "message-id=<login@example.org>")


def test_words_that_name_a_file(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "password").write_text("out of toner")
    as_file, said_so = both("explain", folder / "plain", "password")
    assert "toner" in as_file and "Explaining password:1 (--as-text" in said_so
    as_text, said_so = both("explain", folder / "plain", "password", "--as-text")
    assert "toner" not in as_text and said_so == ""
    assert "toner" in run("explain", folder / "plain", "-", input="out of toner\nagain")
    piped = ("explain", folder / "plain", "-", "--format", "jsonl", "--json")
    answer = json.loads(run(*piped, input='{"subject": "a", "body": "password"}\n'))
    assert answer["document"] == "standard input:1"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["t.csv:99"], "t.csv:99: is beyond the end; the last document is {0}/t.csv:11."),
        (["t.csv:3"], "t.csv:3: no document begins there; the one before is {0}/t.csv:2, the next"),
        (["t.csv:1"], "t.csv:1: no document begins there; the next is {0}/t.csv:2."),
        (["bad.csv:3"], "bad.csv:3: the row has 1 cell, the header 2; it cannot be scored."),
        (["one.eml:3"], "one.eml: is one document; name it without a line or row."),
        (["t.csv"], "t.csv: holds more than one document; name one, as {0}/t.csv:2 is the first"),
        (["none.csv:3"], "none.csv:3: there is no such file; check its name, or add --as-text"),
        (["notes"], "notes: is a folder; name a file in it, or add --as-text"),
        (["t.csv", "--id", "11"], "2 documents have '11' as their \"id\": {0}/t.csv:10; {0}/t"),
        (["t.csv", "--id", "12"], "no document has '12' as its \"id\""),
        (["t.csv", "--id", "ticket=1"], 'has no column "ticket"; its columns are "id", "subject"'),
        (["t.csv", "--id", "1", "--as-text"], "--as-text takes the words as they are"),
    ],
    ids=lambda one: "" if isinstance(one, str) else " ".join(one),
)
def test_what_cannot_be_explained(folder, words, sentence):
    (folder / "bad.csv").write_text("subject,body\na,b\nc\nd,e\n")
    printed = run("explain", folder / "plain", f"{folder}/{words[0]}", *words[1:], status=2)
    assert sentence.format(folder) in printed and printed.count("\n") == 1


def test_a_corpus_is_no_text(folder):
    printed = run("explain", folder / "plain", "reuters21578:modapte", status=2)
    assert "is a corpus; name one of its documents by --id ID, or add --as-text" in printed
    for words in ("reply: the printer", "credit card"):  # which begin as corpora are called
        assert words in run("explain", folder / "plain", words)


@pytest.mark.corpus
def test_a_document_of_a_corpus_is_called_as_predict_calls_it(folder, data_dir, monkeypatch):
    monkeypatch.setenv("THRESHER_DATA", str(data_dir))
    name = "reuters21578:modapte 14826"
    assert "ASIAN EXPORTERS FEAR DAMAGE" in run("explain", folder / "plain", name)


# Confusions and errors ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mistaken(folder):
    """Documents of which the model gets some wrong: the labels are moved on by one."""
    teams = ["hardware", "access", "access", "billing", "hardware", "billing"]
    rows = [f"{s},{b},{t}" for (s, b, _), t in zip(TICKETS, teams, strict=True)]
    path = folder / "mistaken.csv"
    path.write_text("subject,body,team\n" + "\n".join(rows) + "\n")
    return path


def errors_one_by_one(categorizer, path, teams):
    """Return (margin, line, right, given) of each error, the worst first: the obvious way."""
    names, rows = categorizer.categories_, []
    for line, ((subject, body, _), team) in enumerate(zip(TICKETS, teams, strict=True), 2):
        scores = categorizer.scores([f"{subject}\n{body}"])[0] - categorizer.decisions_.thresholds
        given = names[int(scores.argmax())]
        if given != team:
            rows.append((float(scores.max() - scores[names.index(team)]), line, team, given))
    return sorted(rows, key=lambda row: -row[0])


def test_the_worst_errors_are_listed_and_written(folder, mistaken, tmp_path):
    teams = ["hardware", "access", "access", "billing", "hardware", "billing"]
    wanted = errors_one_by_one(Categorizer.load(folder / "plain"), mistaken, teams)
    assert len(wanted) == 3
    words = ("evaluate", folder / "plain", mistaken, "--errors", "2")
    errors = json.loads(run(*words, "--json"))["errors"]
    assert [(one["document"], one["labels"], one["given"]) for one in errors] == [
        (f"{mistaken}:{line}", [right], [given]) for _, line, right, given in wanted[:2]
    ]
    assert [one["margin"] for one in errors] == [row[0] for row in wanted[:2]]
    printed = run(*words)
    assert f"{wanted[0][2]} → {wanted[0][3]}  {mistaken}:{wanted[0][1]}" in printed
    for name in ("e.csv", "e.jsonl"):
        run(*words, "-o", tmp_path / name)
    lines = (tmp_path / "e.jsonl").read_text().splitlines()
    assert list(map(json.loads, lines)) == errors
    table = pa.csv.read_csv(
        tmp_path / "e.csv", parse_options=pa.csv.ParseOptions(newlines_in_values=True)
    )
    assert table["document"].to_pylist() == [one["document"] for one in errors]
    assert table["margin"].to_pylist() == [one["margin"] for one in errors]


def test_errors_on_categories_unknown_to_the_model_are_listed(folder, tmp_path):
    data = tmp_path / "new.csv"
    subject, body, team = TICKETS[0]
    data.write_text(f"subject,body,team\n{subject},{body},{team}\n{subject},{body},shipping\n")
    words = ("evaluate", folder / "plain", data, "--errors", "5", "-o", tmp_path / "e.jsonl")
    assert f"shipping → {team}  {data}:3" in run(*words, "--report", tmp_path / "r.html")
    (error,) = map(json.loads, (tmp_path / "e.jsonl").read_text().splitlines())
    assert (error["labels"], error["given"], error["kind"]) == (["shipping"], [team], "wrong")
    scores = Categorizer.load(folder / "plain").scores([f"{subject}\n{body}"])
    assert error["margin"] == max(scores.max(), 0)
    assert "shipping" in (tmp_path / "r.html").read_text().partition("The worst errors")[2]


def test_confusions_are_counted(folder, mistaken):
    words = ("evaluate", folder / "plain", mistaken, "--confusion")
    pairs = json.loads(run(*words, "--json"))["confusions"]
    wanted = {("access", "hardware"): 1, ("billing", "access"): 1, ("hardware", "billing"): 1}
    assert {(one["missed"], one["given"]): one["documents"] for one in pairs} == wanted
    rows = [line.split() for line in run(*words).splitlines()]
    at = rows.index(["category", "1", "2", "3", "other"])
    assert rows[at + 1 : at + 4] == [
        ["access", "1", "1", "·", "1", "·"],
        ["billing", "2", "1", "1", "·", "·"],
        ["hardware", "3", "·", "1", "1", "·"],
    ]
    assert "No document missed" in run("evaluate", folder / "plain", folder / "t.csv", *words[3:])


def test_errors_beside_a_report(folder, mistaken, tmp_path):
    words = ("evaluate", folder / "plain", "--report", tmp_path / "r.html", "--errors", "1")
    assert " → " in run(*words, mistaken) and (tmp_path / "r.html").exists()
    assert "can be read only once" in run(*words, "-", status=2)
    words = ("evaluate", folder / "plain", mistaken, "-o")
    assert "--errors 20" in run(*words, tmp_path / "e.csv", status=2)
    assert "must end in .csv or .jsonl" in run(*words, "e.xls", "--errors", "1", status=2)
    assert "There are no errors." in run(
        "evaluate", folder / "plain", folder / "t.csv", "--errors", "3"
    )


# Holding out -------------------------------------------------------------------------------------

WORDS = {
    "hardware": "printer toner screen monitor jams",
    "access": "password login account locked",
    "billing": "invoice refund card charged",
}


@pytest.fixture(scope="module")
def many(folder):
    """Sixty tickets, one of which has no label: (text, team) and the file."""
    generator = random.Random(7)
    rows = []
    for i in range(60):
        team = list(WORDS)[generator.randrange(3)]
        words = generator.choices([*WORDS[team].split(), "please", "the", "card", "screen"], k=5)
        rows.append((" ".join(words), "" if i == 17 else team))
    path = folder / "many.jsonl"
    lines = [json.dumps({"text": text, "label": team}) for text, team in rows]
    path.write_text("\n".join(lines) + "\n")
    return rows, path


@pytest.mark.parametrize("more", [["--fast"], ["--learner", "perceptron", "--seed", "3"]])
def test_holding_out_measures_what_the_rest_teaches(many, more, tmp_path):
    """As one would by hand: leave out, fit, evaluate. The model that is saved is the usual one."""
    rows, path = many
    train = ("train", path, *more, "-o")
    answer = json.loads(run(*train, tmp_path / "held", "--hold-out", "0.25", "--json"))["hold_out"]
    run(*train, tmp_path / "usual")
    assert (tmp_path / "held").read_bytes() == (tmp_path / "usual").read_bytes()
    rows = [row for row in rows if row[1]]
    numbers = {team: c for c, team in enumerate(sorted(WORDS))}
    labels = Labels.from_lists([[numbers[team]] for _, team in rows], 3)
    [split] = hold_out(labels, 0.25, random_state=3 if "3" in more else 0)
    categorizer = Categorizer(preset="fast")
    if "perceptron" in more:
        categorizer = Categorizer("perceptron", random_state=3)
    categorizer.fit(*zip(*(rows[i] for i in split.train), strict=True))
    test = list(zip(*(rows[i] for i in split.test), strict=True))
    assert answer == categorizer.evaluate(*map(list, test)).to_dict()
    assert answer["documents"] == 15
    printed = run(*train, tmp_path / "held", "--hold-out", "0.25")
    assert (
        "These figures are of 15 documents, held out at random" in printed
        and "59 documents" in printed
    )


def test_what_cannot_be_held_out(many, tmp_path):
    words = ("train", "-o", tmp_path / "m", "--hold-out")
    for share in ("0", "1", "20", "nan"):
        assert "must be a share between 0 and 1" in run(*words, share, many[1], status=2)
    assert "reads the documents twice" in run(*words, "0.2", "-", status=2, input="{}")
    sentence = run(*words, "0.2", many[1], "--concepts", "3", "--unlabelled", many[1], status=2)
    assert "--hold-out and --unlabelled do not go together" in sentence
    assert "leaves nothing to test on" in run(*words, "0.001", many[1], status=2)
    assert not (tmp_path / "m").exists()


# Splitting ---------------------------------------------------------------------------------------


def split_of(path, *words):
    """Split a file; return the bytes of both files and what was said."""
    answer = json.loads(run("split", path, *words, "--json"))
    return *(Path(answer[one]["file"]).read_bytes() for one in ("train", "test")), answer["how"]


def records_of(path, **how):
    """Return every document of a file: its columns and labels."""
    documents = read_documents(path, **how)
    return [
        (*(values[i] for values in batch.fields.values()), *(batch.labels or [[]] * len(batch))[i])
        for batch in documents
        for i in range(len(batch))
    ]


AWKWARD = {
    "a.csv": b"\xef\xbb\xbf\nid,body,team\r\n"
    + b"".join(
        b'%d,"line\r\n\r\nwith ""%d"", and more",%s\r\n' % (i, i, b"abc"[i % 3 : i % 3 + 1])
        for i in range(20)
    )
    + b"\r\n20,last,a",
    "a.tsv": b"body\tteam\r" + b"".join(b"word %d\t%d\r" % (i, i % 2) for i in range(20)),
    "a.jsonl": b"\n"
    + b"".join(
        b'{"body": "n\\u0041 %d",  "team": ["a%d", "b"], "x": 1.50}%s'
        % (i, i % 2, b"\n" * (i % 3 + 1))
        for i in range(20)
    ).rstrip(),
    "a.ft": b"".join(b"__label__a%d word\r %d \xff\n\n" % (i % 2, i) for i in range(10)),
    "a.txt": b"".join(b"line %d\n" % i for i in range(20)),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_records_are_divided_byte_for_byte(name, tmp_path):
    path, data = tmp_path / name, AWKWARD[name]
    path.write_bytes(data)
    how = {} if name in ("a.ft", "a.txt") else {"text": "body", "labels": "team"}
    words = [f"--{k}={v}" for k, v in how.items()]
    train, test, _ = split_of(path, *words, "--test", "0.3")
    everything = records_of(path, **how)
    parts = [
        records_of(tmp_path / name.replace(".", f"-{one}."), **how) for one in ("train", "test")
    ]
    assert len(parts[1]) == round(0.3 * len(everything))
    assert sorted(everything) == sorted(parts[0] + parts[1])
    for part in parts:
        in_order = iter(everything)
        assert all(record in in_order for record in part)
    header = data[: data.index(b"team") + 4] if name in ("a.csv", "a.tsv") else b""
    assert train.startswith(header) and test.startswith(header)
    assert len(train) + len(test) - len(header.rstrip(b"\r\n")) in range(len(data), len(data) + 3)
    lines = data.splitlines(True)
    assert all(line in lines for part in (train, test) for line in part.splitlines(True))
    for ending, opened in ((".gz", gzip.open), (".bz2", bz2.open)):
        packed = tmp_path / f"packed-{name}{ending}"
        with opened(packed, "wb") as file:
            file.write(data)
        run("split", packed, *words, "--test", "0.3")
        for one, plain in (("train", train), ("test", test)):
            with opened(str(packed).replace(".", f"-{one}.", 1), "rb") as file:
                assert file.read() == plain


def test_rows_of_parquet_are_divided(tmp_path):
    schema = pa.schema([("n", pa.int16()), ("text", pa.string()), ("tags", pa.list_(pa.string()))])
    rows = [{"n": i, "text": f"word {i}", "tags": ["a", "b"][: i % 3]} for i in range(50)]
    table = pa.Table.from_pylist(rows, schema)
    pa.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=7, compression="zstd")
    run("split", tmp_path / "t.parquet", "--labels", "tags", "--test", "0.2")
    train, test = (
        pa.parquet.read_table(tmp_path / f"t-{one}.parquet") for one in ("train", "test")
    )
    assert train.schema == test.schema == schema and len(test) == 10
    together = pa.concat_tables([train, test]).sort_by("n")
    assert together.equals(table)
    assert train["n"].to_pylist() == sorted(train["n"].to_pylist())


def test_categories_are_divided_alike_and_by_seed(many, tmp_path):
    rows, path = many
    words = ("--test", "0.25", "-o", tmp_path / "train.jsonl", tmp_path / "test.jsonl")
    train, test, how = split_of(path, *words)
    assert how == "A random split, stratified by 3 categories; seed 0."
    assert (train, test) == split_of(path, *words)[:2]
    assert test != split_of(path, *words, "--seed", "1")[1]
    teams = [json.loads(line)["label"] for line in test.splitlines()]
    for team in WORDS:
        assert abs(teams.count(team) - 0.25 * sum(t == team for _, t in rows)) <= 1
    numbers = {team: c for c, team in enumerate(dict.fromkeys(t for _, t in rows if t))}
    labels = Labels.from_lists([[numbers[t]] if t else [] for _, t in rows], 3)
    [chosen] = hold_out(labels, 0.25)
    lines = path.read_bytes().splitlines(True)
    assert test == b"".join(lines[i] for i in chosen.test)


def test_groups_are_never_torn(tmp_path):
    generator, path = random.Random(3), tmp_path / "g.csv"
    authors = [generator.choice("abcdefghij") for _ in range(98)] + ["", ""]
    path.write_text("author,note\n" + "".join(f"{a},{i}\n" for i, a in enumerate(authors)))
    train, test, how = split_of(path, "--group", "author", "--test", "0.3")
    sides = [{line[0] for line in part.decode().splitlines()[1:]} - {","} for part in (train, test)]
    assert not sides[0] & sides[1] and sides[0] | sides[1] == set("abcdefghij")
    assert 15 <= test.count(b"\n") - 1 <= 30
    assert "2 documents without a group, each on its own" in how
    words = ("split", path, "--group", "author", "--test", "0.5")
    assert "g-train.csv already exists; to replace it, name both" in run(*words, status=2)
    path.write_text("author,note\na,1\na,2\n")
    words += ("-o", tmp_path / "g-train.csv", tmp_path / "other.csv")
    assert "are of one group" in run(*words, status=2)
    assert (tmp_path / "g-train.csv").read_bytes() == train


@pytest.mark.parametrize("written", ["{0}", "{0}T10:00:00+02:00", "{0} 10:00:00", "mail", "number"])
def test_the_newest_are_tested_on(tmp_path, written):
    days = [date(2024, 1, 28) + timedelta(days=i % 30) for i in range(60)]
    random.Random(5).shuffle(days)
    shown = [written.format(day) for day in days]
    if written == "mail":
        shown = [day.strftime("%a, %d %b %Y 10:00:00 +0000") for day in days]
    elif written == "number":
        shown = [str(day.toordinal() % 1000) for day in days]  # 9 comes before 10
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"day": s, "n": i}) + "\n" for i, s in enumerate(shown)))
    _, test, how = split_of(path, "--time", "day", "--test", "0.3")
    newest = sorted(range(60), key=lambda i: days[i])[-18:]
    assert [json.loads(line)["n"] for line in test.splitlines()] == sorted(newest)
    assert shown[days.index(max(days[i] for i in range(60) if i not in newest))] in how


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["t.csv", "--test", "1"], "--test is 1; it must be a share between 0 and 1."),
        (
            ["t.csv", "--group", "id", "--time", "id"],
            "--group, --time and --group-duplicates do not go together",
        ),
        (["t.csv", "--group", "author"], 'has no column "author"; its columns are "id", "subject"'),
        (["t.csv", "--time", "body"], ":2: \"body\" is 'out of toner,\\nand it jams', which is no"),
        (
            ["t.mbox"],
            "has the format mbox; the formats that can be divided are csv, tsv, jsonl, parquet",
        ),
        (["notes"], "is a folder; only a file can be divided."),
        (["none.csv"], "there is no such file"),
        (["t.csv", "-o", "x.csv", "x.csv"], "is named twice as an output file"),
        (["t.csv", "-o", "x.csv", "y.jsonl"], "records are passed on as they are, CSV"),
        (["t.parquet", "-o", "x.csv", "y.csv"], "records are passed on as they are, Parquet"),
        (["t.csv", "-o", "none/x.csv", "y.csv"], "none/x.csv cannot be written"),
        (["bad.csv", "--text", "body"], "bad.csv:3: the row has 1 cell, the header 2"),
    ],
    ids=lambda one: "" if isinstance(one, str) else " ".join(one),
)
def test_what_cannot_be_split(folder, words, sentence, monkeypatch):
    (folder / "bad.csv").write_text("subject,body\na,b\nc\nd,e\n")
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    assert sentence in run("split", *words, status=2)
    assert sorted(folder.iterdir()) == before


def test_a_file_that_changes_is_not_split(folder, tmp_path, monkeypatch):
    from thresher.documents import dividing

    path = tmp_path / "t.csv"
    path.write_text(QUOTED)
    lines = dividing._lines

    def meanwhile(stream, is_table):
        path.write_text(QUOTED[:100])
        return lines(stream, is_table)

    monkeypatch.setattr(dividing, "_lines", meanwhile)
    words = ("split", path, "--text", "body", "--labels", "team", "--test", "0.5")
    assert "has changed while it was read; nothing was written" in run(*words, status=2)
    assert [one.name for one in tmp_path.iterdir()] == ["t.csv"]


# Searching ---------------------------------------------------------------------------------------


def test_a_grid_of_parameters_is_compared_on_the_same_folds(many):
    """Each as a `Categorizer` with these parameters is cross-validated."""
    words = ("compare", many[1], "--learners", "balanced-winnow", "--folds", "3", "--passes", "2")
    words += ("-p", "promotion=1.1,1.5", "-p", "margin=0,0.5", "-p", "discard=filter-range")
    answer = json.loads(run(*words, "--json"))["learners"]
    pairs = [(1.1, 0), (1.1, 0.5), (1.5, 0), (1.5, 0.5)]
    names = [f"promotion={a}:margin={b}" for a, b in pairs]
    assert list(answer) == names
    for name, (promotion, margin) in zip(names, pairs, strict=True):
        learner = BalancedWinnow(
            promotion=promotion, margin=margin, max_iter=2, discard="filter-range"
        )
        by_hand = cross_validate(Categorizer(learner), many[1], folds=3)
        assert (
            answer[name]["measures"]["micro_f1"]["figures"] == by_hand.figures("micro_f1").tolist()
        )
    best = max(names, key=lambda name: answer[name]["measures"]["micro_f1"]["mean"])
    settings = best.split(":")
    printed = run(*words)
    wanted = f"Best by micro-F1: --learner balanced-winnow -p {settings[0]} -p {settings[1]} -p "
    assert f"{wanted}discard=filter-range" in printed


def test_one_category_is_one_in_the_table_of_a_comparison(tmp_path):
    path = tmp_path / "spam.csv"
    path.write_text("text,label\n" + "cheap pills,spam\nsee you at lunch,\n" * 4)
    printed = run("compare", path, "--labels", "label", "--learners", "perceptron", "--folds", "2")
    assert "8 documents, 1 category, 2 folds; " in " ".join(printed.split())


def test_learners_that_have_the_parameter_are_compared(many):
    words = ("compare", many[1], "--folds", "2", "--passes", "1", "--json")
    answer = json.loads(run(*words, "-p", "regularization=0.1,1"))
    have = [name for name in LEARNERS if "regularization" in make_learner(name).parameters]
    assert have and list(answer["learners"]) == [
        f"{name}:regularization={value}" for name in have for value in ("0.1", "1")
    ]
    own = "perceptron:margin=0.5"  # what a learner sets itself is not varied
    pair = ("--learners", f"perceptron,{own}", "-p", "margin=1,2", "--against", own)
    assert len(json.loads(run(*words, *pair))["learners"]) == 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-p", "beauty=1,2"], "No learner has all of the parameters beauty"),
        (["--learners", "perceptron", "-p", "max_iter"], "it must be NAME=VALUE"),
        (
            [
                "--learners",
                "perceptron",
                *(w for c in "abcdefghij" for w in ("-p", f"{c}=1,2,3,4")),
            ],
            "That makes more than 200 to compare, of which each learns 5 times",
        ),
        (["--plot", "none/x.png"], "none/x.png cannot be written"),
        (["--plot", "x.doc"], "x.doc: is not the name of a picture; it must end in .png"),
    ],
    ids=lambda one: "" if isinstance(one, str) else " ".join(one)[:40],
)
def test_what_cannot_be_searched_is_said_before_anything_is_read(words, sentence, tmp_path):
    assert sentence in run("compare", tmp_path / "none.csv", *words, status=2)


def test_without_matplotlib_nothing_is_computed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    words = ("compare", tmp_path / "none.csv", "--plot", tmp_path / "x.png")
    assert "pip install 'thresher[plots]'" in run(*words, status=2)


# Names for codes ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def coded(folder):
    """The tickets with numbers for categories, once as numbers and once as text, and a model."""
    numbers = {"hardware": 1, "access": 2, "billing": 30}
    lines = [{"text": f"{s} {b}", "label": numbers[t]} for s, b, t in TICKETS]
    (folder / "coded.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    rows = "".join(f"{s} {b},{numbers[t]}\n" for s, b, t in TICKETS[1:] + TICKETS[:1])
    (folder / "coded.csv").write_text("text,label\n" + rows.replace(",30\n", ",2\n", 1))
    run("train", folder / "coded.jsonl", "--fast", "-o", folder / "coded")
    (folder / "codes.csv").write_text('code;name\n1;"Hardware; repairs"\n2;Zugänge\n\n99;Nobody\n')
    return folder


def test_categories_are_shown_by_their_names(coded, tmp_path):
    """In everything that is shown; 30 has no name. Figures and the model stay as they are."""
    model, before = coded / "coded", (coded / "coded").read_bytes()
    names = {"1": "Hardware; repairs", "2": "Zugänge", "30": "30"}
    by_name = ("--names", coded / "codes.csv")
    for data in ("coded.jsonl", "coded.csv"):
        words = ("evaluate", model, coded / data, "--json", "--confusion", "--errors", "3")
        plain, named = json.loads(run(*words)), json.loads(run(*words, *by_name))
        for row in plain["categories"]:
            row["category"] = names[row["category"]]
        for row in plain["confusions"]:
            row |= {key: names[row[key]] for key in ("missed", "given")}
        for row in plain["errors"]:
            row |= {key: [names[one] for one in row[key]] for key in ("labels", "given")}
            row["category"] = names[row["category"]]
        assert named == plain
    assert len(plain["errors"]) == 1
    predicted = run("predict", model, coded / "coded.jsonl").splitlines()
    assert run("predict", model, coded / "coded.jsonl", *by_name).splitlines() == [
        names[one] for one in predicted
    ]
    assert "Zugänge +" in run("rank", model, coded / "coded.jsonl", *by_name)
    assert "Zugänge" in run("inspect", model, *by_name, "--category", "Zugänge")
    words = ("explain", model, "my password", *by_name)
    assert "Zugänge: chosen" in run(*words) and "30: not" in run(*words, "--category", "30")
    page = tmp_path / "r.html"
    assert "Zugänge" in run("evaluate", model, coded / "coded.csv", *by_name, "--report", page)
    assert "Zugänge" in page.read_text() and model.read_bytes() == before


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("1,a,b\n", ":1: the row has 3 cells, where two are expected: a code and its name."),
        ("1,a\n1,b\n", ":2: '1' is called 'b' here and 'a' before; give it one name."),
        ("1,a\n2,a\n", "the categories '1' and '2' would both be called 'a'"),
        ("1,30\n", "the categories '1' and '30' would both be called '30'"),
        ("7,a\n", "none of its codes is a category of the model, which has 1, 2, 30"),
        (None, "codes.csv: cannot be read (No such file or directory)."),
    ],
)
def test_names_that_cannot_be_shown(coded, table, sentence, tmp_path):
    path = tmp_path / "codes.csv"
    if table is not None:
        path.write_text(table)
    for verb in ("evaluate", "predict"):
        words = (verb, coded / "coded", coded / "coded.csv", "--names", path)
        assert sentence in run(*words, status=2)
