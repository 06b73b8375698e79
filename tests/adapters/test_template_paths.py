"""The path language."""

import pytest

from adapters.template.paths import first, found, is_path

ANSWER = {
    "data": {"images": [{"url": "a"}, {"url": "b"}, {"nope": 1}, None], "empty": []},
    "output": ["x", "y"],
    "files": {"mp4": "m", "gif": "g"},
    "matrix": [[1, 2], [3]],
    "none": None,
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("output", [["x", "y"]]),
        ("output[]", ["x", "y"]),
        ("output[1]", ["y"]),
        ("output[7]", []),
        ("data.images[].url", ["a", "b"]),
        ("data.images[0].url", ["a"]),
        ("data.empty[].url", []),
        ("files.*", ["m", "g"]),
        ("matrix[][]", [1, 2, 3]),
        ("matrix[][0]", [1, 3]),
        ("none", [None]),
        ("output.url", []),
        ("files[]", []),
        ("missing.deep[].er", []),
    ],
)
def test_a_path_finds_what_is_there(path: str, values: list[object]) -> None:
    assert is_path(path)
    assert found(ANSWER, path) == values


@pytest.mark.parametrize("document", [None, 1, "text", [], [1], {}])
def test_any_document_can_be_asked(document: object) -> None:
    assert found(document, "data[].url") == []


@pytest.mark.parametrize(
    "path", ["", ".", ".a", "a.", "a..b", "a[", "a]", "a[x]", "a[-1]", "a b", "$..a", "a.**", "x" * 201, 5, None, ["a"]]
)
def test_what_is_no_path(path: object) -> None:
    assert not is_path(path)


def test_the_first_alternative_that_has_a_value_wins() -> None:
    assert first(ANSWER, ["missing", "none", "output[0]", "files.mp4"]) == "x"
    assert first(ANSWER, "missing") is None
