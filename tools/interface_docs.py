"""Writes the tables of params in docs/interface.md from their declarations (`common/params/`).

Run by `make docs`; a test keeps them up to date.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from common.params import tables
from common.params.row import FIRST_VERSION, Param, ParamKind
from tools.adapter_docs import table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "interface.md"
HEADINGS = {"image": "### Image params", "video": "### Video params", "3d": "### 3D params"}
HEAD = ("field", "type", "rule")
TYPES = {
    ParamKind.TEXT: "string",
    ParamKind.WHOLE: "integer",
    ParamKind.FLAG: "boolean",
    ParamKind.CHOICE: "string",
    ParamKind.IMAGES: "array",
    ParamKind.INPUTS: "array",
    ParamKind.OPTIONS: "object",
}
MODEL = ("`model`", "string", "equal to the top-level `model`")


def rows(modality: str) -> Iterator[tuple[str, str, str]]:
    for row in tables.TABLES[modality].rows:
        yield f"`{row.name}`", TYPES[row.kind], rule(row)
    yield MODEL


def rule(row: Param) -> str:
    """Describes the constraints of a field's values."""
    words = row.rule.format(most="" if row.most is None else f"{row.most:,}")
    required = "required, " if row.is_required else ""
    since = "" if row.since == FIRST_VERSION else f"; since version {row.since}"
    return f"{required}{words}{since}"


def written(page: str) -> str:
    """Replaces the first table below each heading. Raises ValueError if there is none."""
    for modality, heading in HEADINGS.items():
        lines = table(HEAD, rows(modality)).replace("| --- | --- | --- |", "|---|---|---|").replace("\\", r"\\")
        page, found = re.subn(rf"(\n{heading}\n\n)(?:\|[^\n]*\n)+", rf"\g<1>{lines}", page)
        if found != 1:
            raise ValueError(f"no table below {heading}")
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {PAGE.name}")
