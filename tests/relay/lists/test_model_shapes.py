"""Lists of models as each vendor's clients read and page them."""

import pytest

from common.errors import InvalidRequest
from common.http.dialects import ANTHROPIC, GOOGLE, OPENAI_TEXT
from relay.lists.model_shapes import ModelShapes

NAMES = tuple("abcde")


def ids(shown) -> str:
    return "".join(model["id"] for model in shown["data"])


def test_openais_list_is_whole_whatever_the_query_says():
    shown = ModelShapes(dialect=OPENAI_TEXT).page(NAMES, {"limit": "x", "pageSize": "1"})
    assert shown["object"] == "list"
    assert ids(shown) == "abcde"
    assert shown["data"][0] == {"id": "a", "object": "model", "created": 0, "owned_by": "system"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ("abcde", False, "a", "e")),
        ({"limit": "2"}, ("ab", True, "a", "b")),
        ({"limit": "2", "after_id": "b"}, ("cd", True, "c", "d")),
        ({"limit": "2", "after_id": "d"}, ("e", False, "e", "e")),
        ({"after_id": "e"}, ("", False, None, None)),
        ({"after_id": "gone"}, ("", False, None, None)),
        ({"limit": "2", "before_id": "d"}, ("bc", True, "b", "c")),
        ({"limit": "5000", "before_id": "c"}, ("ab", False, "a", "b")),
        ({"before_id": "gone"}, ("", False, None, None)),
    ],
)
def test_anthropics_list_has_cursors_on_both_sides(query, expected):
    shown = ModelShapes(dialect=ANTHROPIC).page(NAMES, query)
    assert (ids(shown), shown["has_more"], shown["first_id"], shown["last_id"]) == expected


def test_anthropics_page_is_twenty():
    assert len(ModelShapes(dialect=ANTHROPIC).page([str(number) for number in range(30)], {})["data"]) == 20


def test_googles_list_goes_on_by_its_token():
    query: dict[str, str] = {"pageSize": "2"}
    seen = []
    while True:
        shown = ModelShapes(dialect=GOOGLE).page(NAMES, query)
        seen.append([model["name"] for model in shown["models"]])
        if "nextPageToken" not in shown:
            break
        query["pageToken"] = shown["nextPageToken"]
    assert seen == [["models/a", "models/b"], ["models/c", "models/d"], ["models/e"]]


@pytest.mark.parametrize("size", ["0", "-1", "x", "1.5", "²", "9" * 5000])
def test_a_page_size_that_is_none_is_refused_by_name(size):
    for parameter, dialect in (("limit", ANTHROPIC), ("pageSize", GOOGLE)):
        with pytest.raises(InvalidRequest) as caught:
            ModelShapes(dialect=dialect).page(NAMES, {parameter: size})
        assert caught.value.param == parameter


def test_one_model_is_as_in_the_list():
    for dialect, among in ((OPENAI_TEXT, "data"), (ANTHROPIC, "data"), (GOOGLE, "models")):
        assert ModelShapes(dialect=dialect).one("b") == ModelShapes(dialect=dialect).page(NAMES, {})[among][1]
