"""The path language."""

from adapters.template.paths import first, found, is_path

ANSWER = {
    "data": {"images": [{"url": "a"}, {"url": "b"}, {"nope": 1}, None], "empty": []},
    "output": ["x", "y"],
    "files": {"mp4": "m", "gif": "g"},
    "matrix": [[1, 2], [3]],
    "none": None,
}


def test_a_path_finds_what_is_there() -> None:
    for path, values in [
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
    ]:
        assert is_path(path), path
        assert found(ANSWER, path) == values, path


def test_any_document_can_be_asked() -> None:
    for document in [None, 1, "text", [], [1], {}]:
        assert found(document, "data[].url") == [], document


def test_what_is_no_path() -> None:
    for path in [
        "",
        ".",
        ".a",
        "a.",
        "a..b",
        "a[",
        "a]",
        "a[x]",
        "a[-1]",
        "a b",
        "$..a",
        "a.**",
        "x" * 201,
        5,
        None,
        ["a"],
    ]:
        assert not is_path(path), path


def test_the_first_alternative_that_has_a_value_wins() -> None:
    assert first(ANSWER, ["missing", "none", "output[0]", "files.mp4"]) == "x"
    assert first(ANSWER, "missing") is None
