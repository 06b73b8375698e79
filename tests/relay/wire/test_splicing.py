"""One value changes, and no other byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.wire import splicing

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["model", "a", '"', "\\", "{", "é"]), inner, max_size=3)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(["model", "messages", "x", '"model":', "ü\\"]) | st.text(max_size=4), VALUES)
STYLES = st.sampled_from(
    [
        {"indent": 2},
        {"separators": (",", ":")},
        {"separators": (" , ", " : ")},
        {"ensure_ascii": False, "indent": "\t"},
    ]
)


@given(OBJECTS, STYLES, st.text(min_size=1))
def test_a_top_level_name_is_replaced_and_no_other_byte(document, style, name):
    document = {**document, "model": "old"}
    before = " \n" + json.dumps(document, **style) + "\n"
    # As json.dumps writes it at the top level, wherever else the same words stand.
    after = splicing.renamed(before.encode(), ("model",), name)
    assert json.loads(after) == {**document, "model": name}
    found = splicing.span(before.encode(), "model")
    assert after == before.encode()[: found[0]] + json.dumps(name).encode() + before.encode()[found[1] :]


@given(OBJECTS, STYLES)
def test_every_value_stands_where_it_is_found(document, style):
    raw = json.dumps(document, **style).encode()
    for name, value in document.items():
        begin, end = splicing.span(raw, name)
        assert json.loads(raw[begin:end]) == value


def test_a_key_may_be_written_with_escapes_and_a_path_may_be_deep():
    raw = b'{"x":{"model":"no"},"m\\u006fdel" :\t"a\\"b" , "message":{"id":1,"model":"deep"}}'
    assert splicing.renamed(raw, ("model",), "new") == raw.replace(b'"a\\"b"', b'"new"')
    assert splicing.renamed(raw, ("message", "model"), "new") == raw.replace(b'"deep"', b'"new"')


@pytest.mark.parametrize(
    "raw", [b"{}", b"[]", b"", b"null", b'"model"', b'{"a":{"model":"x"}}', b'{"model":1}', b'{"model":{"model":"x"}}']
)
def test_what_names_no_model_stays_as_it_is(raw):
    assert splicing.renamed(raw, ("model",), "new") == raw


@given(st.binary(max_size=40) | st.text(alphabet='{}[]",:\\model ', max_size=40).map(str.encode))
def test_bytes_that_are_no_json_do_no_harm(raw):
    splicing.renamed(raw, ("model",), "new")
    splicing.renamed(raw, ("a", "model"), "new")


def test_a_member_is_added_to_an_object_that_may_be_empty():
    assert splicing.added(b' { "a":1}', (0, 9), b'"b":2') == b' {"b":2, "a":1}'
    assert splicing.added(b'{"o":{ }}', (5, 8), b'"b":2') == b'{"o":{"b":2 }}'


@pytest.mark.parametrize(
    ("raw", "after"),
    [
        (b'{"a":[{"b":1},{"c":2} , {}]}', b'{"a":[{"n":9,"b":1},{"n":9,"c":2} , {"n":9}]}'),
        (b'{ "a": [ {"b":1,"n" :null}, 7 ] }', b'{ "a": [ {"b":1,"n" :9}, 7 ] }'),
        (b'{"\\u0061":[{"b":[1,2]},[{}],{"n":3,"d":4}]}', b'{"\\u0061":[{"n":9,"b":[1,2]},[{}],{"n":9,"d":4}]}'),
        (b'{"a":{"b":1}}', b'{"a":{"b":1}}'),
        (b'{"c":1}', b'{"c":1}'),
        (b"[1", b"[1"),
    ],
)
def test_a_value_is_put_at_many_places_in_one_pass(raw, after):
    assert splicing.with_values(raw, [("a", index, "n") for index in (2, 0, 1)], b"9") == after


def test_a_value_of_the_whole_is_put_at_its_place():
    assert splicing.with_values(b' {"b":[1]}', [("n",)], b"9") == b' {"n":9,"b":[1]}'
    assert splicing.with_values(b'{"b":[1],"n":"x"}', [("n",)], b"9") == b'{"b":[1],"n":9}'
    assert splicing.with_values(b'{"b":1}', [], b"9") == b'{"b":1}'
