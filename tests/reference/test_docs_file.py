"""The document in `docs/` is the one that the service serves."""

from reference import document
from tools import openapi_docs


def test_the_file_is_what_make_docs_would_write():
    assert openapi_docs.FILE.read_text(encoding="utf-8") == document.as_yaml()
