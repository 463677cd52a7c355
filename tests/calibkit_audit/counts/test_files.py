"""Reading files: the same rows from every kind of file, and what is refused in a sentence."""

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
from calibkit_audit.counts import PredictionFileError, monitor_files, readers
from calibkit_audit.counts.files import open_log
from tests.audit_cases import skewed_log
from tests.helpers import class_data

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ANIMALS = np.array(["cat", "dog", "owl"])
KINDS = ("CSV", "tsv", "csv.gz", "jsonl", "npz", "npy", "pq")
COUNT = 600  # rows, more than a group of a Parquet file has


def write(path: Path, columns: Any) -> Path:
    """Write columns, or a text as it is, in the kind of file that the name says."""
    names = [] if isinstance(columns, str) else list(columns)
    if isinstance(columns, str):
        text = columns
    elif path.suffix == ".npz":
        np.savez(path, **columns)
        return path
    elif path.suffix == ".npy":
        kinds = [(name, np.asarray(columns[name]).dtype) for name in names]
        np.save(path, np.array(list(zip(*columns.values(), strict=True)), dtype=kinds))
        return path
    elif path.suffix in (".pq", ".parquet"):
        parquet.write_table(pa.table(columns), path, row_group_size=250, write_page_checksum=True)
        return path
    else:
        rows = list(zip(*(np.asarray(one).tolist() for one in columns.values()), strict=True))
        if path.suffix == ".jsonl":
            text = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows)
        else:
            mark = "\t" if path.suffix == ".tsv" else ","
            text = "\n".join(mark.join(map(str, row)) for row in [names, *rows])
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def read(*paths: Path | str, **options: Any) -> Rows:
    """Read files; other columns than y and p must be named."""
    log = open_log(paths, **({"label": "y", "prob": "p"} | options))
    return keep_rows(rows_of_files([log]))[0]


def assert_rows(found: Rows, label: Any, prob: Any) -> None:
    """Compare what was read with labels and predictions."""
    assert np.array_equal(found["y_true"], label) and np.array_equal(found["y_prob"], prob)


def assert_refused(path: Path | str, words: str, **options: Any) -> str:
    """Read a file that must be refused, and return what is said, which names the file."""
    with pytest.raises(PredictionFileError, match=words) as caught:
        read(path, **options)
    assert repr(str(path)) in str(caught.value)
    return str(caught.value)


# --- the same rows from every kind of file -------------------------------------------------------


LABEL, PROB = skewed_log(COUNT)
WORDS = np.where(LABEL == 1, "yes", "no")
CLASS, TABLE = class_data(COUNT)
TOP, GUESS = TABLE.max(axis=1), TABLE.argmax(axis=1)
NUMBERED: dict[str, Any] = {str(k + 1): TABLE[:, k] for k in range(3)}
NAMED: dict[str, Any] = {f"p_{name}": TABLE[:, k] for k, name in enumerate(ANIMALS)}
PAIR: dict[str, Any] = {"y": LABEL, "p": PROB}
SAID, STATED = (
    PAIR | {"y": WORDS},
    {"y": np.char.add(ANIMALS, " ")[CLASS], "k": ANIMALS[GUESS], "p": TOP},
)
NUMBERS, NAMES = {"y": CLASS} | NAMED, {"y": ANIMALS[CLASS]} | NAMED
SHIFTED = {"y": CLASS + 1} | NUMBERED
IN_ORDER = {"prob": list(NAMED), "classes": list(ANIMALS)}
SAME: dict[str, tuple[Any, dict[str, Any], Any, Any]] = {
    "0 and 1": (PAIR, {}, LABEL, PROB),
    "0 positive": (PAIR, {"positive": "0"}, 1 - LABEL, PROB),
    "truth": (PAIR | {"y": LABEL == 1}, {}, LABEL, PROB),
    "numbers with a point": (PAIR | {"y": LABEL.astype(float)}, {}, LABEL, PROB),
    "words": (SAID, {"positive": "yes"}, LABEL, PROB),
    "other words": (SAID, {"positive": "no"}, 1 - LABEL, PROB),
    "dots in names": ({"a.b": PROB, "a": LABEL}, {"label": "a", "prob": "a.b"}, LABEL, PROB),
    "a pattern": (NAMES, {"prob": "p_*"}, CLASS, TABLE),
    "columns": (NUMBERS, {"prob": list(NAMED)}, CLASS, TABLE),
    "commas": (NUMBERS, {"prob": ",".join(NAMED)}, CLASS, TABLE),
    "classes": (NAMES, IN_ORDER, CLASS, TABLE),
    "numbers as names": (SHIFTED, {"prob": list(NUMBERED)}, CLASS, TABLE),
    "a predicted class": (STATED, {"predicted": "k"}, ANIMALS[CLASS], TOP),
}


def changed(values: Any, **rows: Any) -> Any:
    """Return a copy of an array with other values in some rows, counted from 1."""
    values = np.array(values, dtype=object if isinstance(values[0], str) else None)
    for row, value in rows.items():
        values[int(row[1:]) - 1] = value
    return values.astype(str) if values.dtype == object else values


THREE = "3 labels beside the positive 'yes': 'no', 'other', 'unknown'. Only one may mean y = 0"
THIRD = PAIR | {"y": changed(WORDS, _5="other", _599="unknown")}
# Rows that are refused in every kind of file.
BAD_ROWS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "negative": (PAIR | {"p": changed(PROB, _1=-0.25)}, {}, "row 1: 'p' = -0.25 is not"),
    "above 1": (PAIR | {"p": changed(PROB, _450=1.5)}, {}, "row 450: 'p' = 1.5 is not"),
    "no number": (PAIR | {"p": changed(PROB, _7=np.nan)}, {}, r"row 7: no value .*'p' \(1 of"),
    "a third number": (PAIR | {"y": changed(LABEL, _600=2)}, {}, "row 600: label '2' .*--positive"),
    "a third word": (THIRD, {"positive": "yes"}, THREE),
    "no word": (PAIR | {"y": changed(WORDS, _9="NA")}, {"positive": "yes"}, "row 9: no value"),
    "no such word": (SAID, {"positive": "maybe"}, "'maybe' never occurs"),
    "no such number": (
        {"y": CLASS} | NUMBERED,
        {"prob": list(NUMBERED)},
        "label '0' .* none of '1', '2', '3'",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_every_kind_of_file_has_the_same_rows(tmp_path: Path, name: str, subtests: Any) -> None:
    columns, options, label, prob = SAME[name]
    for kind in KINDS:
        with subtests.test(kind):
            found = read(write(tmp_path / f"log.{kind}", columns), **options)
            assert_rows(found, label, prob)
            if "predicted" in options:
                assert np.array_equal(found["predicted"], ANIMALS[GUESS])


@pytest.mark.parametrize("name", BAD_ROWS)
def test_every_kind_of_file_is_refused_in_the_same_words(tmp_path, name: str, subtests) -> None:
    columns, options, words = BAD_ROWS[name]
    for kind in KINDS:
        with subtests.test(kind):
            path = write(tmp_path / f"log.{kind}", columns)
            assert_refused(path, words, **options)
            with pytest.raises(PredictionFileError, match=words):
                monitor_files(Monitor(), [path], **{"label": "y", "prob": "p"} | options)


def test_several_files_of_different_kinds(tmp_path: Path) -> None:
    parts = zip(("a.parquet", "b.csv", "c.npz"), np.split(np.arange(COUNT), 3), strict=True)
    for name, rows in parts:
        write(tmp_path / name, {"y": LABEL[rows], "p": PROB[rows]})
    assert_rows(read(*sorted(tmp_path.iterdir())), LABEL, PROB)
    with pytest.raises(ValueError, match="no files"):
        read()


def test_columns_of_arrays_and_of_blanks(tmp_path: Path) -> None:
    """Keras writes labels of shape (n, 1), old programs columns between runs of blanks."""
    np.savez(tmp_path / "log.npz", y=LABEL[:, np.newaxis], p=PROB[:, np.newaxis])
    assert_rows(read(tmp_path / "log.npz"), LABEL, PROB)
    np.savez(tmp_path / "table.npz", y=CLASS, p=TABLE)
    assert_rows(read(tmp_path / "table.npz"), CLASS, TABLE)
    np.save(tmp_path / "table.npy", np.column_stack([LABEL, PROB]))
    assert_rows(read(tmp_path / "table.npy", label="0", prob="1"), LABEL, PROB)
    text = "".join(f"  {y}   {p!r} \n" for y, p in zip(LABEL, PROB.tolist(), strict=True))
    path = write(tmp_path / "log.txt", f" y  p\n{text}")
    assert_rows(read(path, delimiter=" "), LABEL, PROB)


def test_pandas_keeps_a_word_that_no_row_has(tmp_path: Path) -> None:
    """It is no third label, and no positive one."""
    words = pa.DictionaryArray.from_arrays(pa.array(LABEL), pa.array(["no", "yes", "maybe"]))
    path = write(tmp_path / "log.parquet", {"p": PROB, "y": words})
    assert_rows(read(path, positive="yes"), LABEL, PROB)
    assert_refused(path, "'maybe' never occurs", positive="maybe")


def test_classes_of_several_files_are_matched_by_name(tmp_path: Path) -> None:
    label, prob = class_data(500, n_classes=2)
    paths = []
    for number, order in enumerate(([0, 1], [1, 0])):
        columns = {f"p_{ANIMALS[k]}": prob[:, k] for k in order}
        paths.append(write(tmp_path / f"{number}.parquet", {"y": ANIMALS[label]} | columns))
    assert_rows(read(*paths, prob="p_*"), np.tile(label, 2), np.tile(prob, (2, 1)))
    columns = {"y": ANIMALS[label], "p_cat": prob[:, 0], "p_fox": prob[:, 1]}
    other = write(tmp_path / "fox.parquet", columns)
    with pytest.raises(PredictionFileError, match=r"fox.parquet.*'p_cat', 'p_fox'.*same columns"):
        read(paths[0], other, prob="p_*")


def test_a_file_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    path, link, hard = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    write(path, "y,p\n1,.5\n")
    link.symlink_to(path)
    hard.hardlink_to(path)
    for other in (path, link, hard, tmp_path / "." / "a.csv"):
        with pytest.raises(PredictionFileError, match=r"[abc]\.csv.*named twice.*count twice"):
            read(path, str(other))


# --- CSV -----------------------------------------------------------------------------------------


def test_csv_in_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "LONGEST_LINE", 4096)
    monkeypatch.setattr(readers, "CSV_VALUES", 400)
    path = write(tmp_path / "log.csv", {"y": LABEL, "p": PROB})
    assert_rows(read(path), LABEL, PROB)
    text = path.read_text()
    for more, words in (
        ("1,1.5", "row 601: 'p' = 1.5 is not"),
        ("1,.5,.7", "row 601: a row has 3 values"),
        ("1," + "0" * 20_000, "line 602 has more than 4,096 characters. Is a quote not"),
    ):
        assert_refused(write(path, f"{text}\n{more}\n"), words)


def test_csv_with_many_columns_quoted_text_and_line_breaks(tmp_path: Path) -> None:
    names = [f"column {k}" for k in range(38)]
    text = "\ufeff" + ",".join([*names[:20], '"true, ""label"""', *names[20:], "p"]) + "\r\n"
    filler = ['"two\r\nlines, ""quoted"""', *["x"] * 19]
    for answer, prob in (("yes", ".9"), ("no", " 0.25 "), ('" yes"', "1e-1")):
        text += ",".join([*filler, answer, *["" for _ in range(18)], prob]) + "\r\n"
    path = write(tmp_path / "wide.csv", text)
    assert_rows(read(path, label='true, "label"', positive="yes"), [1, 0, 1], [0.9, 0.25, 0.1])


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ('t;y;p\n"a;b";1;,9\n1,5;0; 0,25\nd;1;,6\n', {"delimiter": ";", "decimal": ","}),
        ("t|y|p\na;b|1|.9\n1.5|0|0.25\nd|1|.6\n", {"delimiter": "|"}),
    ],
)
def test_other_marks_between_columns_and_in_numbers(tmp_path, text: str, marks: Any) -> None:
    found = read(write(tmp_path / "log.csv", text), time="t", **marks)
    assert_rows(found, [1, 0, 1], [0.9, 0.25, 0.6])
    assert found["time"].tolist() == ["a;b", "1.5", "d"]


GUESSED = {"predicted": "k"}
BAD_CSV: dict[str, tuple[str, dict[str, Any], str]] = {
    "just above 1": ("y,p\n1,1.0000001\n", {}, r"'p' = 1\.0000001 is not a probability"),
    "one column twice": ("y,p\n1,.5\n", {"prob": ["p", "p"]}, "must be different columns"),
    "missing": ("y,p\n1,.5\n0,\n1,.5\n0,none\n", {}, r"row 2: no value .*'p' \(2 of 4 rows"),
    "missing label": ("y,p\n1,.5\n,.4\n", {}, "row 2: no value in column 'y'"),
    "decimal comma": ('y,p\n1,"0,5"\n', {}, "'0,5' in column 'p' is no number"),
    "unknown column": ("a,b\n1,.5\n", {}, "column 'y' is not there. The columns are 'a', 'b'"),
    "many columns": (",".join(f"c{i}" for i in range(51)) + "\n", {}, "'c49' and 1 more"),
    "twice": ("y,p,p\n1,.5,.5\n", {}, "'p' is there more than once"),
    "short row": ("y,p\n1,.5\n0\n", {}, "row 2: a row has 1 values, but there are 2 columns: '0'"),
    "long row": ("y,p\n1,.5\n0,.2,.3\n", {}, "row 2: a row has 3 values, .* '0,.2,.3'. Put quotes"),
    "per cent": ("y,p\n1,50%\n", {}, "'50%' in column 'p' is no number. .*per ?cent sign"),
    "of 100": ("y,p\n1,50\n", {}, "'p' = 50 is not a probability .*percentages .--percent. or"),
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
    "thousands": ("y;p\n1;2,878\n", {"delimiter": ";"}, "'2,878' .*nothing between thousands"),
    "a group": ("y,p,g\n1,.5,\n", {"group": "g", "drop_missing": True}, "'g' .*out of the file"),
    "a comma": ("y;p\n1;0.5\n", {"delimiter": ";", "decimal": ","}, "'0.5' .* decimal comma"),
    "one mark": ("y,p\n1,.5\n", {"decimal": ","}, "',' and decimal=',' must be two different"),
    "a long mark": ("y,p\n1,.5\n", {"delimiter": ";;"}, "';;' .* marks: one character"),
    "classes apart": ("y,k,p\na,b,.5\nc,d,.5\n", GUESSED, "No predicted class .*'a'.*'b'"),
    "a capital": ("y,k,p\nGnu,gnu ,.5\na,a,.5\n", GUESSED, "'Gnu' and 'gnu' look like one"),
    "a point": ("y,k,p\n4,4.0,.5\n3,3,.5\n", GUESSED, "'4' and '4.0' look like one class"),
    "no guesses": ("y,k,p\n", GUESSED, "there are no rows"),
    "a positive class": ("y,k,p\na,a,.5\n", GUESSED | {"positive": "a"}, "no positive label"),
    "two confidences": ("y,k,p\na,a,.5\n", GUESSED | {"prob": ["p", "k"]}, "one column of conf"),
}


@pytest.mark.parametrize("name", BAD_CSV)
def test_bad_csv_files_are_refused(tmp_path: Path, name: str) -> None:
    text, options, words = BAD_CSV[name]
    assert_refused(write(tmp_path / "log.csv", text), words, **options)


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
    lines = dict.fromkeys(range(299), "1,.5,ok")
    path = write(tmp_path / "log.csv", "\n".join(["y,p,t", *(lines | changes).values()]))
    assert_refused(path, f"{words}.*Is a quote not closed")
    lines[30] = '1,.5,"a verse\nof lines, each, with marks\nlike those, of a, row\nno, 3, of\nthem"'
    assert len(read(write(path, "\n".join(["y,p,t", *lines.values()])))["y_true"]) == 299


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.csv.gz", "log.jsonl"])
def test_a_cell_of_a_megabyte_is_read_and_the_limit_of_the_process_kept(tmp_path, name) -> None:
    before, text = csv.field_size_limit(), "x" * 2**20
    path = write(tmp_path / name, {"y": [1, 0], "p": [0.5, 0.5], "t": [text, ""]})
    assert len(read(path)["y_true"]) == 2 and csv.field_size_limit() == before
    assert_refused(write(tmp_path / "a.csv", f"y,p\n1,{text * 5}\n"), "more than 4,194,304")
    assert csv.field_size_limit() == before


def test_names_of_clusters_and_labels_of_another_file_are_kept_apart(tmp_path: Path) -> None:
    """Sixteen digits tell two accounts, and NA is a class where one is called so."""
    keys = np.array([1234567890123456.0, 1234567890123457.0])
    path = write(tmp_path / "log.pq", {"k": keys, "p_NA": [0.5, 0.2], "p_EU": [0.5, 0.8]})
    other = {"labels": write(tmp_path / "l.csv", {"y": ["NA", "EU"], "k": keys.astype(int)})}
    found = read(path, prob="p_*", cluster="k", on="k", drop_missing=True, **other)
    assert found["y_true"].tolist() == [0, 1] and len(set(found["cluster"])) == 2


# --- JSON lines ----------------------------------------------------------------------------------


def test_the_log_of_a_language_model(tmp_path: Path) -> None:
    """Log-likelihoods of the choices, as texts, and nested: paths name them, a pattern all."""
    label, prob = class_data(300)
    rows: list[dict[str, Any]] = [
        {"target": str(y), "resps": [[str(z), "False"] for z in row], "doc": {"key": "ABC"[y]}}
        for y, row in zip(label, np.log(prob), strict=True)
    ]
    path = write(tmp_path / "log.jsonl", "\n".join(map(json.dumps, rows)))
    wanted = audit(label, logits=np.log(prob)).to_dict()["answers"]
    for answers in ({"label": "target"}, {"label": "doc.key", "classes": "ABC"}):
        found = read_predictions(path, prob="resps.*.0", logits=True, **answers)
        assert audit(**found).to_dict()["answers"] == wanted
    rows[7]["resps"].append(["-1", "False"])  # a question with one more choice
    write(path, "\n".join(map(json.dumps, rows)))
    words = r"row 1: no value in column 'resps.3.0' \(299 of 300"
    assert_refused(path, words, label="target", prob="resps.*.0", logits=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"y": 1, "p": }', r"row 2: is no object in JSON, \{…\}"),
        ("[1, 0.5]", "row 2: is no object in JSON"),
        ('{"y": 1, "p": 0.5, "p": 1}', "row 2: .*a name comes twice: 'y', 'p', 'p'"),
        ('{"p": 1, "a.b": 0.5, "a": {"b": 1}}', "row 2: .*a name comes twice"),
        ("1", "row 2: is no object in JSON"),
        ('{"y": 1, "p": null}', "row 2: no value in column 'p'"),
        ('{"y": 1, "p": "high"}', "row 2: 'high' in column 'p' is no number"),
        ("[" * 100_000, "cannot be read|is no object in JSON"),
    ],
)
def test_lines_that_are_no_rows(tmp_path: Path, line: str, words: str) -> None:
    path = write(tmp_path / "log.jsonl", f'{{"y": 1, "p": 0.5}}\n\n{line}\n')
    assert_refused(path, words)


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
    assert_refused(write(tmp_path / "log.parquet", columns), words)


@pytest.mark.parametrize("keep", [0, 3, 0.5, 0.9])
def test_a_truncated_parquet_file_is_refused(tmp_path: Path, keep: float) -> None:
    path = write(tmp_path / "log.parquet", {"y": LABEL, "p": PROB})
    content = path.read_bytes()
    path.write_bytes(content[: int(keep) if keep >= 1 else int(keep * len(content))])
    assert_refused(path, "cut short, damaged")


def test_a_corrupt_row_group_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "log.parquet", {"y": LABEL, "p": PROB})
    chunk = parquet.ParquetFile(path).metadata.row_group(1).column(1)
    content = bytearray(path.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    middle = start + chunk.total_compressed_size // 2
    for k in range(40):
        content[middle + k] ^= 0xFF
    path.write_bytes(bytes(content))
    assert_refused(path, "cut short, damaged")


def test_without_pyarrow_parquet_says_what_to_install(tmp_path, monkeypatch) -> None:
    path = write(tmp_path / "log.parquet", {"y": LABEL, "p": PROB})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"calibkit\[parquet\]"):
        read(path)


# --- what is no such file, or a hostile one ------------------------------------------------------


NOT_A_FILE = "no such file|is a folder"
NO_UTF_8 = "is not UTF-8 text"
ODD = bytes(range(256)) * 40
NO_FILE: list[tuple[str, bytes | None, str]] = [
    *((name, b"y,p\n1,.5\n", "the name must end in") for name in ("a.dat", "a.csv.zip", "log")),
    *((name, b"y,p\n1,.5\n", "the name must end in") for name in ("a.parquet.gz", "log.pkl")),
    *((name, None, NOT_A_FILE) for name in ("none.csv", "none.parquet", "folder.csv", "a\0b.csv")),
    *((f"log.{end}", ODD, "of another format") for end in ("parquet", "npz", "npy", "csv.gz")),
    ("log.csv", ODD, NO_UTF_8),
    ("log.csv", "y,p,é\n1,.5,1\n".encode("latin-1"), NO_UTF_8),
    ("log.csv", "y,p\né,.5\n".encode("latin-1"), NO_UTF_8),
]


@pytest.mark.parametrize(("name", "content", "words"), NO_FILE)
def test_the_kind_of_a_file_is_never_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes | None, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.csv").mkdir()
    if content is not None:
        Path(name).write_bytes(content)
    assert_refused(name, words, positive="é")


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
    said = assert_refused(path, "pickled")
    assert "allow_pickle" not in said  # no advice to load it
    assert not trap.exists()


def test_an_npz_that_unpacks_to_gigabytes_is_refused(tmp_path, monkeypatch) -> None:
    np.savez_compressed(tmp_path / "log.npz", y=np.zeros(10**6), p=np.zeros(10**6))
    monkeypatch.setattr(readers, "LARGEST_ARCHIVE", 10**7)
    assert_refused(tmp_path / "log.npz", "unpacks to more than")


@pytest.mark.parametrize("text", ["", "y,p\n1,.5\n"])
def test_a_sparse_csv_of_ten_gigabytes_is_refused_at_once(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "hole.csv", text)
    with path.open("r+b") as file:
        file.truncate(10 * 2**30)
    assert_refused(path, r"line \d has more than")


def test_texts_from_outside_cannot_speak_to_the_terminal_and_are_cut(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", "y,\x1b[31mred\n1,.5\n")
    said = assert_refused(path, "is not there")
    assert "\x1b" not in said and r"\x1b[31mred" in said
    write(path, f"y,p\n{'z' * 10_000},.5\n")
    assert len(assert_refused(path, "cut")) < 800


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
