"""The programs of docs/openai-sdk.md, run as they stand."""

import re
from pathlib import Path

from tests.sdks.conftest import Shop
from tests.sdks.programs import run
from tools.stack import ROOT

PAGE = (ROOT / "docs" / "openai-sdk.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"^```\w+ (\w+\.\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def saves_its_files(shop: Shop, folder: Path, program: str | Path, name: str) -> None:
    """The page's program leaves a picture, an edited one and a film."""
    (folder / name).write_text(PROGRAMS[name], encoding="utf-8")
    assert run(shop, folder, program, name) == ["picture.png", "edited.png", "film.mp4"]
    picture, edited, film = ((folder / saved).read_bytes() for saved in ("picture.png", "edited.png", "film.mp4"))
    assert picture.startswith(b"\x89PNG")
    assert edited.startswith(b"\x89PNG")
    assert picture != edited
    assert film[4:8] == b"ftyp"
