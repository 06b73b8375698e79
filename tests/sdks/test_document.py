"""The programs of docs/openai-sdk.md; that in JavaScript needs a package of npm and runs with `make sdks`."""

import shutil
import sys

import pytest

from tests.sdks import document

needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="studio.sh needs curl, which is not installed")


@pytest.mark.parametrize(
    ("program", "name"),
    [pytest.param("sh", "studio.sh", marks=needs_curl), (sys.executable, "studio.py")],
    ids=["curl", "python"],
)
def test_a_program_of_the_page_saves_a_picture_an_edited_one_and_a_film(shop, tmp_path, program, name):
    document.saves_its_files(shop, tmp_path, program, name)
