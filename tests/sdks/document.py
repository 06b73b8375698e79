"""The programs of docs/openai-sdk.md and docs/companion.md, run as they stand."""

import re
from pathlib import Path

from tests.sdks.conftest import Shop
from tests.sdks.programs import run
from tools.stack import ROOT

QUESTION = "a lighthouse at dawn"


def programs_of(page: str) -> dict[str, str]:
    """The texts of its programs by their names."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return dict(re.findall(r"^```\w+ (\w+\.\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


PROGRAMS = programs_of("openai-sdk.md")
COMPANION = programs_of("companion.md")


def saves_its_files(shop: Shop, folder: Path, program: str | Path, name: str) -> None:
    """The page's program leaves a picture, an edited one and a film."""
    (folder / name).write_text(PROGRAMS[name], encoding="utf-8")
    assert run(folder, shop.task_environment, program, name) == ["picture.png", "edited.png", "film.mp4"]
    picture, edited, film = ((folder / saved).read_bytes() for saved in ("picture.png", "edited.png", "film.mp4"))
    assert picture.startswith(b"\x89PNG")
    assert edited.startswith(b"\x89PNG")
    assert picture != edited
    assert film[4:8] == b"ftyp"


def prints_its_answers(shop: Shop, folder: Path, program: str | Path, name: str) -> None:
    """The page's program prints the sandbox's echo twice: whole, and as it streamed."""
    (folder / name).write_text(COMPANION[name], encoding="utf-8")
    assert run(folder, shop.general_environment, program, name) == [QUESTION, QUESTION]
