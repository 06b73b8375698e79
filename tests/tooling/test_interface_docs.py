"""The tables of params in the interface document are as the fields are declared."""

import pytest

from common.params import tables
from tools import interface_docs

PAGE = interface_docs.PAGE.read_text(encoding="utf-8")


def test_the_tables_are_what_make_docs_would_write():
    assert interface_docs.written(PAGE) == PAGE


def test_a_line_that_nobody_declares_does_not_stay():
    head = "| `generate_audio` | boolean |"
    assert PAGE.count(head) == 1
    assert interface_docs.written(PAGE.replace(head, f"| `mood` | string | blue |\n{head}")) == PAGE


def test_a_section_without_a_table_is_noticed():
    with pytest.raises(ValueError, match="no table below ### 3D params"):
        interface_docs.written(PAGE.replace("### 3D params\n\n|", "### 3D params\n\nNothing.\n\n|"))


def test_the_names_that_no_option_may_have_are_told():
    *others, last = [f"`{name}`" for name in tables.TABLES["video"].reserved]
    told = f"`provider_options` may not hold {', '.join(others)} or {last} (400)"
    assert told in " ".join(PAGE.split())
