"""The file picker of the audit board, in JupyterLab only. Lesson 14."""

import tempfile
from pathlib import Path
from typing import Any

from calibkit_audit.auditing import AuditReport, audit
from calibkit_audit.auditing.predictions import read_predictions

KINDS = (".csv", ".tsv", ".parquet", ".npz")
MOST_BYTES = 50_000_000


def audit_bytes(
    content: bytes, name: str, *, label: str, prob: str, positive: str = ""
) -> AuditReport:
    r"""Audit the contents of a file that a reader has picked."""
    ending = Path(name).suffix.lower()
    if ending not in KINDS:
        raise ValueError(f"the name must end in {', '.join(KINDS)}, got {ending or 'none'}.")
    if len(content) > MOST_BYTES:
        raise ValueError("the file is larger than 50 MB; use the command `calibkit audit`.")
    columns = [part.strip() for part in prob.split(",") if part.strip()]
    if not label.strip() or not columns:
        raise ValueError("name the column of the labels and that of the probabilities.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"picked{ending}"
        path.write_bytes(content)
        try:
            rows = read_predictions(
                path,
                label=label.strip(),
                prob=columns[0] if len(columns) == 1 else columns,
                positive=positive.strip() or None,
            )
        except ValueError as error:  # name the file as the reader knows it
            raise ValueError(str(error).replace(str(path), Path(name).name)) from None
    return audit(**rows, title=Path(name).name)


def with_file_picker(board: Any) -> Any:
    """Put a file picker below the widgets of the audit board."""
    import ipywidgets as widgets

    from calibkit_course.explore.lab import status

    wide = {"description_width": "initial"}
    picker = widgets.FileUpload(
        accept=",".join(KINDS), multiple=False, description="Pick a file", tooltip="Your own file"
    )
    texts = {
        "label": widgets.Text(value="label", description="Column of the labels", style=wide),
        "prob": widgets.Text(value="p", description="Columns of probabilities", style=wide),
        "positive": widgets.Text(value="", description="Label that means yes", style=wide),
    }
    run = widgets.Button(description="Audit it", layout=widgets.Layout(width="max-content"))
    answer = widgets.HTML()

    def audit_picked(_: Any) -> None:
        if not picker.value:
            answer.value = status("Pick a file first. It stays on this computer.")
            return
        picked = picker.value[0]
        given = {name: text.value for name, text in texts.items()}
        try:
            report = audit_bytes(bytes(picked["content"]), picked["name"], **given)
        except (ValueError, OSError, ImportError) as error:
            answer.value = status(str(error))
        else:
            answer.value = report._repr_html_()

    run.on_click(audit_picked)
    row_style = {"flex_flow": "row wrap", "grid_gap": "0 1em"}
    inputs = widgets.Box([picker, *texts.values(), run], layout=widgets.Layout(**row_style))
    return widgets.VBox([*board.children, widgets.HTML("<b>Your own file</b>"), inputs, answer])
