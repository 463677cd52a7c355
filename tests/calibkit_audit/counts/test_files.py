"""Reading files: the same rows from every kind of file."""

import csv
import gzip
import io
import json
import pickle
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibkit_audit import Monitor
from calibkit_audit.auditing import audit
from calibkit_audit.auditing.predictions import Rows, keep_rows, read_predictions, rows_of_files
from calibkit_audit.counts import PredictionFileError, monitor_files
from calibkit_audit.counts.files import open_log
from tests.audit_cases import skewed_log
from tests.helpers import class_data

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ANIMALS = np.array(["cat", "dog", "owl"])


def write_parquet(path: Path, columns: dict[str, Any], size: int = 1000, **options: Any) -> Path:
    parquet.write_table(pa.table(columns), path, row_group_size=size, **options)
    return path


def write_csv(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def csv_of(label: Any, prob: Any) -> str:
    lines = [f"{int(y)},{float(p)!r}" for y, p in zip(label, prob, strict=True)]
    return "\n".join(["y,p", *lines]) + "\n"


def write_fields(path: Path, label: Any, prob: Any) -> None:
    array = np.zeros(len(prob), dtype=[("y", "i4"), ("p", "f8")])
    array["y"], array["p"] = label, prob
    np.save(path, array)


WRITERS: dict[str, Callable[[Path, Any, Any], Any]] = {
    "log.CSV": lambda path, y, p: write_csv(path, csv_of(y, p)),
    "log.tsv": lambda path, y, p: write_csv(path, csv_of(y, p).replace(",", "\t")),
    "log.csv.gz": lambda path, y, p: path.write_bytes(gzip.compress(csv_of(y, p).encode())),
    "log.npz": lambda path, y, p: np.savez(path, y=y, p=p),
    "fields.npy": write_fields,
    "table.npy": lambda path, y, p: np.save(path, np.column_stack([y, p])),
    "log.pq": lambda path, y, p: write_parquet(path, {"p": p, "y": y}),
}


def read(*paths: Path | str, **options: Any) -> Rows:
    """Read files; other columns than y and p must be named."""
    log = open_log(paths, **({"label": "y", "prob": "p"} | options))
    return keep_rows(rows_of_files([log]))[0]


def assert_rows(found: Rows, label: Any, prob: Any) -> None:
    """Compare what was read with labels and predictions."""
    assert np.array_equal(found["y_true"], label) and np.array_equal(found["y_prob"], prob)


def assert_refused(path: Path | str, words: str, **options: Any) -> str:
    """Read a file that must be refused, and return what is said."""
    with pytest.raises(PredictionFileError, match=words) as caught:
        read(path, **options)
    return str(caught.value)


# --- the same rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file(tmp_path: Path, name: str) -> None:
    label, prob = skewed_log(3000)
    WRITERS[name](tmp_path / name, label, prob)
    names = {"label": "0", "prob": "1"} if name == "table.npy" else {}
    assert_rows(read(tmp_path / name, **names), label, prob)
    assert_rows(read(tmp_path / name, positive="0", **names), 1 - label, prob)


@pytest.mark.slow
def test_several_files_of_different_kinds(tmp_path: Path) -> None:
    label, prob = skewed_log(3000)
    write_parquet(tmp_path / "a.parquet", {"y": label[:1000], "p": prob[:1000]}, 300)
    write_csv(tmp_path / "b.csv", csv_of(label[1000:2000], prob[1000:2000]))
    np.savez(tmp_path / "c.npz", y=label[2000:], p=prob[2000:])
    assert_rows(read(*sorted(tmp_path.iterdir())), label, prob)
    with pytest.raises(ValueError, match="no files"):
        read()


@pytest.mark.parametrize("encoded", [False, True])
def test_labels_in_words(tmp_path: Path, encoded: bool) -> None:
    """pandas keeps a word that no row has: it is no third label, and no positive one."""
    label, prob = skewed_log(3000)
    words = pa.array(np.where(label == 1, "yes", "no"))
    if encoded:
        words = pa.DictionaryArray.from_arrays(pa.array(label), pa.array(["no", "yes", "maybe"]))
    path = write_parquet(tmp_path / "log.parquet", {"p": prob, "y": words})
    assert_rows(read(path, positive="yes"), label, prob)
    assert_rows(read(path, positive="no"), 1 - label, prob)
    assert_refused(path, "'maybe' never occurs", positive="maybe")


def test_one_column_per_class(tmp_path: Path) -> None:
    label, prob = class_data(4000)
    columns: dict[str, Any] = {f"p_{name}": prob[:, k] for k, name in enumerate(ANIMALS)}
    path = write_parquet(tmp_path / "log.parquet", {"y": ANIMALS[label], "k": label} | columns)
    np.savez(tmp_path / "log.npz", y=label, p=prob)
    names = list(columns)
    assert_rows(read(path, prob="p_*"), label, prob)
    assert_rows(read(path, label="k", prob=names), label, prob)
    assert_rows(read(path, prob=names, classes=list(ANIMALS)), label, prob)
    assert_rows(read(tmp_path / "log.npz"), label, prob)


def test_classes_of_several_files_are_matched_by_name(tmp_path: Path) -> None:
    label, prob = class_data(500, n_classes=2)
    paths = []
    for number, order in enumerate(([0, 1], [1, 0])):
        columns = {f"p_{ANIMALS[k]}": prob[:, k] for k in order}
        path = tmp_path / f"{number}.parquet"
        paths.append(write_parquet(path, {"y": ANIMALS[label]} | columns))
    assert_rows(read(*paths, prob="p_*"), np.tile(label, 2), np.tile(prob, (2, 1)))
    columns = {"y": ANIMALS[label], "p_cat": prob[:, 0], "p_fox": prob[:, 1]}
    other = write_parquet(tmp_path / "fox.parquet", columns)
    with pytest.raises(PredictionFileError, match=r"fox.parquet.*'p_cat', 'p_fox'.*same columns"):
        read(paths[0], other, prob="p_*")


@pytest.mark.parametrize("again", ["same", "link", "hard link", "dotted"])
def test_a_file_that_is_named_twice_is_refused(tmp_path: Path, again: str) -> None:
    path = write_csv(tmp_path / "a.csv", "y,p\n1,.5\n")
    link, dotted = tmp_path / "b.csv", tmp_path / "." / "a.csv"
    other = {"same": path, "link": link, "hard link": link, "dotted": dotted}
    if again == "link":
        link.symlink_to(path)
    elif again == "hard link":
        link.hardlink_to(path)
    with pytest.raises(PredictionFileError, match=r"[ab]\.csv.*named twice.*count twice"):
        read(path, str(other[again]))


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_a_label_that_names_a_column_means_it_in_every_kind_of_file(tmp_path, kind: str) -> None:
    label, prob = class_data(500)
    columns = {"y": label + 1} | {str(k + 1): prob[:, k] for k in range(3)}
    path, bad = tmp_path / f"log.{kind}", tmp_path / f"bad.{kind}"
    if kind == "npz":
        np.savez(path, **columns)
        np.savez(bad, **columns | {"y": label})
    elif kind == "parquet":
        write_parquet(path, columns)
        write_parquet(bad, columns | {"y": label})
    else:
        for file, first in ((path, label + 1), (bad, label)):
            rows = zip(first.tolist(), *prob.T.tolist(), strict=True)
            write_csv(file, "\n".join(["y,1,2,3", *(",".join(map(str, row)) for row in rows)]))
    options: dict[str, Any] = {"prob": ["1", "2", "3"]}
    assert_rows(read(path, **options), label, prob)
    assert_refused(bad, "label '0' .* none of '1', '2', '3'", **options)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_third_label_is_refused_with_its_count(tmp_path: Path, kind: str) -> None:
    label, prob = skewed_log(3000)
    words = np.where(label == 1, "yes", "no").astype(object)
    words[5], words[-2:] = "other", "unknown"
    path = tmp_path / f"log.{kind}"
    if kind == "csv":
        lines = [f"{y},{p}" for y, p in zip(words, prob.tolist(), strict=True)]
        write_csv(path, "\n".join(["y,p", *lines]))
    else:
        write_parquet(path, {"p": prob, "y": words}, 700)
    said = "3 labels beside the positive 'yes': 'no', 'other', 'unknown'. Only one may mean y = 0"
    assert_refused(path, said, positive="yes")


def test_a_predicted_class_with_its_confidence(tmp_path: Path) -> None:
    label, prob = class_data(300, seed=4)
    guess, top = prob.argmax(axis=1), prob.max(axis=1)
    true, said = ANIMALS[label], ANIMALS[guess]
    lines = [f"{y},{k},{p!r}" for y, k, p in zip(true, said, top.tolist(), strict=True)]
    paths = [
        write_csv(tmp_path / f"{n}.csv", "\n".join(["y,k,p", *part]))
        for n, part in enumerate((lines[:100], lines[100:]))
    ]
    np.savez(tmp_path / "log.npz", y=true, k=said, p=top)
    for files in (paths, [tmp_path / "log.npz"]):
        found = read(*files, predicted="k")
        assert_rows(found, true, top)
        assert np.array_equal(found["predicted"], said)
    np.savez(tmp_path / "numbers.npz", y=label, k=guess.astype(float), p=top)
    numbers = read(tmp_path / "numbers.npz", predicted="k")
    assert (numbers["y_true"] == numbers["predicted"]).tolist() == (label == guess).tolist()


# --- CSV -----------------------------------------------------------------------------------------


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibkit_audit.counts.readers.LONGEST_LINE", 4096)
    monkeypatch.setattr("calibkit_audit.counts.readers.CSV_VALUES", 1400)


@pytest.mark.usefixtures("small_blocks")
def test_csv_in_several_blocks(tmp_path: Path) -> None:
    label, prob = skewed_log(5000)
    path = write_csv(tmp_path / "log.csv", csv_of(label, prob))
    assert_rows(read(path), label, prob)
    for more, words in (
        ("1,1.5\n", "row 5,001: 'p' = 1.5 is not"),
        ("1,.5,.7\n", "row 5,001: a row has 3 values"),
        ("1," + "0" * 20_000 + "\n", "line 5,002 has more than 4,096 characters. Is a quote not"),
    ):
        assert_refused(write_csv(path, csv_of(label, prob) + more), words)


def test_csv_with_many_columns_quoted_text_and_line_breaks(tmp_path: Path) -> None:
    names = [f"column {k}" for k in range(38)]
    text = "\ufeff" + ",".join([*names[:20], '"true, ""label"""', *names[20:], "p"]) + "\r\n"
    filler = ['"two\r\nlines, ""quoted"""', *["x"] * 19]
    for answer, prob in (("yes", ".9"), ("no", " 0.25 "), ('" yes"', "1e-1")):
        text += ",".join([*filler, answer, *["" for _ in range(18)], prob]) + "\r\n"
    path = write_csv(tmp_path / "wide.csv", text)
    assert_rows(read(path, label='true, "label"', positive="yes"), [1, 0, 1], [0.9, 0.25, 0.1])


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ('name;y;p\n"a;b";1;,9\nc;0; 0,25\nd;1;,6\n', {"delimiter": ";", "decimal": ","}),
        ("name|y|p\na|1|.9\nc|0|0.25\nd|1|.6\n", {"delimiter": "|"}),
    ],
)
def test_other_marks_between_columns_and_in_numbers(tmp_path, text: str, marks: Any) -> None:
    path = write_csv(tmp_path / "log.csv", text)
    assert_rows(read(path, **marks), [1, 0, 1], [0.9, 0.25, 0.6])


BAD_CSV: dict[str, tuple[str, dict[str, Any], str]] = {
    "just above 1": ("y,p\n1,1.0000001\n", {}, r"'p' = 1\.0000001 is not a probability"),
    "one column twice": ("y,p\n1,.5\n", {"prob": ["p", "p"]}, "must be different columns"),
    "missing probability": (
        "y,p\n1,.5\n0,\n1,.5\n0,\n",
        {},
        r"row 2: no value in column 'p' \(2 of 4 rows",
    ),
    "missing label": ("y,p\n1,.5\n,.4\n", {}, "row 2: no value in column 'y'"),
    "nan": ("y,p\n1,.5\n1,nan\n", {}, "row 2: no value in column 'p'"),
    "too large": ("y,p\n1,.5\n0,1.5\n", {}, r"row 2: 'p' = 1.5 is not a probability"),
    "decimal comma": ('y,p\n1,"0,5"\n', {}, "'0,5' in column 'p' is no number"),
    "label 2": ("y,p\n0,.5\n2,.5\n", {}, "row 2: label '2' .* neither 0 nor 1.*--positive"),
    "label in words": ("y,p\nno,.5\n", {}, "label 'no' .*--positive"),
    "positive never": ("y,p\nno,.5\n", {"positive": "Yes"}, "'Yes' never occurs"),
    "unknown column": ("a,b\n1,.5\n", {}, "column 'y' is not there. The columns are 'a', 'b'"),
    "many columns": (",".join(f"c{i}" for i in range(51)) + "\n", {}, "'c49' and 1 more"),
    "twice": ("y,p,p\n1,.5,.5\n", {}, "'p' is there more than once"),
    "short row": ("y,p\n1,.5\n0\n", {}, "row 2: a row has 1 values, but there are 2 columns: '0'"),
    "long row": ("y,p\n1,.5\n0,.2,.3\n", {}, "row 2: a row has 3 values, .* '0,.2,.3'. Put quotes"),
    "per cent": ("y,p\n1,50%\n", {}, "'50%' in column 'p' is no number. .*per ?cent sign"),
    "of 100": ("y,p\n1,50\n", {}, "'p' = 50 is not a probability .*percentages .--percent. or"),
    "label NA": ("y,p\nNA,.5\nyes,.5\n", {"positive": "yes"}, "row 1: no value in column 'y'"),
    "semicolons": ("y;p\n1;,5\n", {}, "column 'y' is not there.*separated by semicolons"),
    "tabs": ("y\tp\n1\t.5\n", {}, "separated by tabs"),
    "blanks": ("y  p\n1  .5\n", {}, "separated by blanks.*--delimiter ' '"),
    "no names": ("1,.5\n0,.5\n", {}, "These are numbers: is the first row"),
    "no rows": ("y,p\n", {}, "there are no rows"),
    "empty": ("", {}, "is empty"),
    "same column": ("y,p\n1,.5\n", {"prob": "y"}, "must be different columns"),
    "no pattern fits": ("y,p\n1,.5\n", {"prob": "q_*"}, "fits 0 columns"),
    "classes of one": ("y,p\n1,.5\n", {"classes": ["a"]}, "one different name per column"),
    "sum": ("y,p,q\n0,.5,.4\n", {"prob": ["p", "q"]}, "row 1: .* sum to 0.9"),
    "class": ("y,p,q\ncat,.5,.5\n", {"prob": ["p", "q"]}, "label 'cat' .*--classes"),
    "class name": ("y,p_a,p_b\nc,.5,.5\n", {"prob": "p_*"}, "'c' .* none of 'a', 'b'"),
    "positive": ("y,p,q\n0,.5,.5\n", {"prob": ["p", "q"], "positive": "0"}, "to one column"),
    "no comma": ("y;p\n1;0,5\n", {"delimiter": ";"}, "'0,5' .* is no number.*decimal=','"),
    "a comma": ("y;p\n1;0.5\n", {"delimiter": ";", "decimal": ","}, "'0.5' .* decimal comma"),
}
# Files that alone are no fault: what is said of them names no file.
BAD_REQUESTS: list[tuple[str, dict[str, Any], str]] = [
    ("y,p\n1,.5\n", {"decimal": ","}, "',' and decimal=',' must be two different marks"),
    ("y,p\n1,.5\n", {"delimiter": ";;"}, "';;' .* must be two different marks: one character"),
    *(
        (f"y,k,p\n{rows}\n", {"predicted": "k"} | options, words)
        for rows, options, words in (
            ("a,b,.5\nc,d,.5", {}, "No predicted class is among the true ones.*'a'.*'b'"),
            ("Gnu,gnu ,.5\na,a,.5", {}, "'Gnu' and 'gnu ' look like one class.*Spell both"),
            ("4,4.0,.5\n3,3,.5", {}, "'4' and '4.0' look like one class"),
            ("", {}, "there are no rows"),
            ("a,a,.5", {"positive": "a"}, "no positive label"),
            ("a,a,.5", {"prob": ["p", "k"]}, "one column of confidence"),
        )
    ),
]


@pytest.mark.parametrize(("text", "options", "words"), BAD_REQUESTS)
def test_what_cannot_be_asked_of_a_file_is_refused(tmp_path, text, options, words) -> None:
    with pytest.raises(ValueError, match=words):
        read(write_csv(tmp_path / "log.csv", text), **options)


@pytest.mark.parametrize("name", BAD_CSV)
def test_bad_csv_files_are_refused(tmp_path: Path, name: str) -> None:
    text, options, words = BAD_CSV[name]
    path = write_csv(tmp_path / "log.csv", text)
    assert "log.csv" in assert_refused(path, words, **options)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({30: '1,.5,"open'}, "row 31: from line 32 to 300: unexpected end"),
        ({30: '1,".5,open'}, "row 31"),
        ({30: '1,.5,"open', 250: '1,.5,"ok"'}, "row 31: from line 32 to 252: ',' expected"),
        ({30: '1,.5,"open', 250: '1,.5,shut"'}, "row 31: .* lines that look like rows"),
    ],
)
def test_a_quote_that_is_not_closed_swallows_no_rows(tmp_path: Path, changes, words: str) -> None:
    lines = dict.fromkeys(range(299), "1,.5,ok") | changes
    path = write_csv(tmp_path / "log.csv", "\n".join(["y,p,t", *lines.values()]))
    assert_refused(path, f"{words}.*Is a quote not closed")
    verse = '1,.5,"a verse\nof lines, each, with marks\nlike those, of a, row\nno, 3, of\nthem"'
    text = "\n".join(["y,p,t", *({**dict.fromkeys(range(299), "1,.5,ok"), 30: verse}).values()])
    assert len(read(write_csv(path, text))["y_true"]) == 299


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.csv.gz", "log.jsonl"])
def test_a_cell_of_a_megabyte_is_read_and_the_limit_of_the_process_kept(tmp_path, name) -> None:
    before, path, text = csv.field_size_limit(), tmp_path / name, "x" * 2**20
    rows = f"y,p,t\n1,.5,{text}\n0,.5,\n"
    if name.endswith("jsonl"):
        rows = f'{{"y": 1, "p": 0.5, "t": "{text}"}}\n\n{{"y": 0, "p": 0.5}}\n'
    rows = rows.replace(",", "\t") if name.endswith("tsv") else rows
    path.write_bytes(gzip.compress(rows.encode()) if name.endswith("gz") else rows.encode())
    assert len(read(path)["y_true"]) == 2 and csv.field_size_limit() == before
    assert_refused(write_csv(tmp_path / "a.csv", f"y,p\n1,{text * 5}\n"), "more than 4,194,304")
    assert csv.field_size_limit() == before


def test_columns_of_labels_and_blanks(tmp_path: Path) -> None:
    """Keras writes labels of shape (n, 1), old programs columns between runs of blanks."""
    label, prob = skewed_log(300)
    np.savez(tmp_path / "log.npz", y=label[:, np.newaxis], p=prob[:, np.newaxis])
    assert_rows(read(tmp_path / "log.npz"), label, prob)
    text = "".join(f"  {y}   {p!r} \n" for y, p in zip(label, prob.tolist(), strict=True))
    path = write_csv(tmp_path / "log.txt", f" y  p\n{text}")
    assert_rows(read(path, delimiter=" "), label, prob)


# --- JSON lines ----------------------------------------------------------------------------------


def test_the_log_of_a_language_model(tmp_path: Path) -> None:
    """Log-likelihoods of the choices, as texts, and nested: paths name them, a pattern all."""
    label, prob = class_data(300)
    rows = [
        {"target": str(y), "resps": [[str(z), "False"] for z in row], "doc": {"key": "ABC"[y]}}
        for y, row in zip(label, np.log(prob), strict=True)
    ]
    path = write_csv(tmp_path / "log.jsonl", "\n".join(map(json.dumps, rows)))
    wanted = audit(label, logits=np.log(prob)).to_dict()["answers"]
    for answers in ({"label": "target"}, {"label": "doc.key", "classes": "ABC"}):
        found = read_predictions(path, prob="resps.*.0", logits=True, **answers)
        assert audit(**found).to_dict()["answers"] == wanted
    rows[7]["resps"].append(["-1", "False"])  # a question with one more choice
    write_csv(path, "\n".join(map(json.dumps, rows)))
    with pytest.raises(
        PredictionFileError, match=r"row 1: no value in column 'resps.3.0' \(299 of 300"
    ):
        read_predictions(path, label="target", prob="resps.*.0", logits=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"y": 1, "p": }', "row 2: is no JSON"),
        ("[1, 0.5]", "row 2: is no object"),
        ('{"y": 1, "p": null}', "row 2: no value in column 'p'"),
        ('{"y": 1, "p": "high"}', "row 2: 'high' in column 'p' is no number"),
        ("[" * 100_000, "cannot be read|is no JSON"),
    ],
)
def test_lines_that_are_no_rows(tmp_path: Path, line: str, words: str) -> None:
    path = write_csv(tmp_path / "log.jsonl", f'{{"y": 1, "p": 0.5}}\n{line}\n')
    assert_refused(path, words)


@pytest.mark.parametrize("text", ["y,p,é\n1,.5,1\n", "y,p\nné,.5\n"])
def test_text_that_is_not_utf_8_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode("latin-1"))
    assert_refused(path, r"log\.csv.*is not UTF-8 text", positive="né")


# --- Parquet -------------------------------------------------------------------------------------


DAYS = pa.array([0, 1]).cast(pa.timestamp("s"))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"y": [1, 0], "p": [0.5, None]}, "row 2: no value in column 'p'"),
        ({"y": [1, None], "p": [0.5, 0.6]}, "row 2: no value in column 'y'"),
        ({"y": [1, 0], "p": ["0.5", "high"]}, "row 2: 'high' in column 'p' is no number"),
        ({"y": [1, 0], "p": [[0.5], [0.6]]}, "column 'p' holds 'list.*one number or text"),
        ({"y": [b"yes", b"no"], "p": [0.5, 0.6]}, "column 'y' holds 'binary'"),
        ({"y": DAYS, "p": [0.5, 0.6]}, "label '1970-01-01 00.*--positive"),
    ],
)
def test_columns_of_odd_types_are_refused(tmp_path: Path, columns: Any, words: str) -> None:
    assert_refused(write_parquet(tmp_path / "log.parquet", columns), words)


@pytest.mark.parametrize("row", [0, 1499, 2999])
@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("p", np.nan, "row {row}: no value in column 'p'"),
        ("p", -0.25, "row {row}: 'p' = -0.25"),
        ("y", 2, "row {row}: label '2'"),
    ],
)
def test_a_bad_value_in_parquet_is_named_with_its_row(
    tmp_path: Path, row: int, column: str, value: Any, words: str
) -> None:
    label, prob = skewed_log(3000)
    columns = {"y": label.astype(np.int64), "p": prob.copy()}
    columns[column][row] = value
    path = write_parquet(tmp_path / "log.parquet", columns, 1000)
    wanted = words.format(row=f"{row + 1:,}")
    assert_refused(path, wanted)
    with pytest.raises(PredictionFileError, match=wanted):
        monitor_files(Monitor(), [path], label="y", prob="p")


def test_columns_with_dots_in_their_names(tmp_path: Path) -> None:
    label, prob = skewed_log(50)
    path = write_parquet(tmp_path / "log.parquet", {"a.b": prob, "a": label})
    assert_rows(read(path, label="a", prob="a.b"), label, prob)


def large_parquet(path: Path) -> Path:
    label, prob = skewed_log(20_000)
    return write_parquet(path, {"y": label, "p": prob}, 2000, write_page_checksum=True)


@pytest.mark.parametrize("keep", [0, 3, 0.5, 0.9])
def test_a_truncated_parquet_file_is_refused(tmp_path: Path, keep: float) -> None:
    path = large_parquet(tmp_path / "log.parquet")
    content = path.read_bytes()
    path.write_bytes(content[: int(keep) if keep >= 1 else int(keep * len(content))])
    assert_refused(path, r"log\.parquet.*cut short, damaged")


def test_a_corrupt_row_group_is_refused(tmp_path: Path) -> None:
    path = large_parquet(tmp_path / "log.parquet")
    chunk = parquet.ParquetFile(path).metadata.row_group(6).column(1)
    content = bytearray(path.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    middle = start + chunk.total_compressed_size // 2
    for k in range(40):
        content[middle + k] ^= 0xFF
    path.write_bytes(bytes(content))
    assert_refused(path, r"log\.parquet.*cut short, damaged")


# --- what is no such file, or a hostile one ------------------------------------------------------


@pytest.mark.parametrize("name", ["log.dat", "log.parquet.gz", "log", "log.pkl", "log.csv.zip"])
def test_the_kind_of_a_file_is_never_guessed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("y,p\n1,.5\n", encoding="utf-8")
    assert_refused(tmp_path / name, "the name must end in")


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "folder.csv", "a\0b.csv"])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    assert_refused(str(tmp_path / name), "no such file|is a folder|no name of a file")


@pytest.mark.parametrize("ending", ["parquet", "npz", "npy", "csv.gz", "csv"])
def test_a_file_of_another_kind_than_its_name_says(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"log.{ending}"
    path.write_bytes(bytes(range(256)) * 40)
    assert_refused(path, "log")


class Bomb:
    """Would create a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.write_text, (self.path, "boom")


@pytest.mark.parametrize("name", ["log.npz", "log.npy", "pickle.npy", "pickle.npz"])
def test_pickles_are_refused_and_never_run(tmp_path: Path, name: str) -> None:
    trap, path = tmp_path / "trap", tmp_path / name
    objects = np.array([Bomb(trap)] * 3, dtype=object)
    if name.startswith("pickle"):
        path.write_bytes(pickle.dumps(Bomb(trap)))
    elif name.endswith("npz"):
        np.savez(path, y=np.array([0, 1, 1]), p=objects)
    else:
        np.save(path, objects)
    said = assert_refused(path, "pickled|cannot be read")
    assert "allow_pickle" not in said  # no advice to load it
    assert not trap.exists()


def test_a_member_name_of_an_archive_leads_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    name = "../escaped"
    np.savez(folder / "log.npz", **{name: np.array([0, 1]), "p": np.array([0.2, 0.7])})
    assert read(folder / "log.npz", label=name, prob="p")["y_true"].size == 2
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["inside", "log.npz"]


def test_an_npz_that_unpacks_to_gigabytes_is_refused(tmp_path, monkeypatch) -> None:
    from calibkit_audit.counts import readers

    np.savez_compressed(tmp_path / "log.npz", y=np.zeros(10**6), p=np.zeros(10**6))
    monkeypatch.setattr(readers, "LARGEST_ARCHIVE", 10**7)
    assert_refused(tmp_path / "log.npz", "unpacks to more than")


def test_a_sparse_csv_of_ten_gigabytes_is_refused_at_once(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "hole.csv", "y,p\n1,.5\n")
    with path.open("r+b") as file:
        file.truncate(10 * 2**30)
    assert_refused(path, r"hole\.csv")
    empty = tmp_path / "nothing.csv"
    with empty.open("wb") as file:
        file.truncate(10 * 2**30)
    assert_refused(empty, r"line 1 has more than")


def test_texts_from_outside_cannot_speak_to_the_terminal_and_are_cut(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", "y,\x1b[31mred\n1,.5\n")
    said = assert_refused(path, "is not there")
    assert "\x1b" not in said and r"\x1b[31mred" in said
    write_csv(path, f"y,p\n{'z' * 10_000},.5\n")
    assert len(assert_refused(path, "cut")) < 800


def test_without_pyarrow_parquet_says_what_to_install(tmp_path, monkeypatch) -> None:
    label, prob = skewed_log(30)
    path = write_parquet(tmp_path / "log.parquet", {"y": label, "p": prob})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"calibkit\[parquet\]"):
        read(path)


def test_what_a_forged_npz_promises_is_not_believed(tmp_path: Path) -> None:
    """An array header may promise terabytes; another member may be no array at all."""
    head, whole = io.BytesIO(), io.BytesIO()
    form = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(head, form)
    np.save(whole, np.array([0.0, 1.0]))
    for name, content in (("forged", head.getvalue() + bytes(16)), ("fine", whole.getvalue())):
        with zipfile.ZipFile(tmp_path / f"{name}.npz", "w") as archive:
            archive.writestr("readme.txt", "what this is")
            archive.writestr("y.npy", whole.getvalue())
            archive.writestr("p.npy", content)
    assert read(tmp_path / "fine.npz")["y_true"].size == 2
    assert_refused(tmp_path / "forged.npz", "cannot be read .*cut short, damaged")
    (tmp_path / "forged.npy").write_bytes(head.getvalue())
    assert_refused(tmp_path / "forged.npy", "cannot be read .*damaged", label="0", prob="1")
