"""What documents say of declared facts is what `make docs` would write."""

import pytest

from tools import declared_docs


def test_the_pages_are_what_make_docs_would_write():
    for path, text in declared_docs.pages().items():
        assert path.read_text(encoding="utf-8") == text, path


def test_a_page_without_its_marks_is_refused():
    with pytest.raises(ValueError, match="'a' occur 0 times"):
        declared_docs.filled("<!-- b, by make docs -->\n\n\n\n<!-- end of b -->", {"a": str})
