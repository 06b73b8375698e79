"""What may be a part of a credential, and what people paste along with one."""

import pytest

from catalog import secret_text, validation
from catalog.fields import Invalid

KEY = "sk-Canary_0123456789.abc/def+ghi=:~!"
BESIDE = {
    "a blank before": f" {KEY}",
    "a blank behind": f"{KEY} ",
    "a line break": f"{KEY}\n",
    "a blank of another kind": f"\u3000{KEY}",
    "a byte order mark": f"\ufeff{KEY}",
    "a zero-width space": f"\u200b{KEY}",
    "a zero-width joiner within": f"sk-\u200d{KEY}",
    "a word joiner": f"{KEY}\u2060",
    "a soft hyphen": f"sk\u00ad-{KEY}",
    "a mark of direction": f"{KEY}\u202e",
    "a blank that does not break": f"sk\u00a0{KEY}",
    "a blank within": f"sk {KEY}",
    "a control character": f"sk\u0007{KEY}",
    "a NUL": f"{KEY}\0",
    "a lone surrogate": f"{KEY}\ud800",
    "a letter that is not ASCII": f"sk-é{KEY}",
    "a letter that looks like another": f"sk-\u0430{KEY}",
    "a dash of a word processor": f"sk\u2013{KEY}",
    "Bearer": f"Bearer {KEY}",
    "bearer": f"bearer\t{KEY}",
    "Basic": f"Basic {KEY}",
    "Key": f"Key {KEY}",
    "Token": f"TOKEN  {KEY}",
    "a header": f"Authorization: Bearer {KEY}",
}


@pytest.mark.parametrize("value", BESIDE.values(), ids=BESIDE.keys())
def test_what_was_pasted_along_is_complained_of_by_the_name_of_the_field_and_never_shown(value):
    with pytest.raises(Invalid) as refused:
        validation.credentials({"api_key": value})
    ((path, reason),) = refused.value.problems
    assert path == "api_key"
    assert "Canary" not in reason
    assert reason.isascii()


def test_the_reason_says_what_stands_where():
    for value, reason in ((f"\u200b{KEY}", "nobody sees (character 1 of"), ("sk é", "a blank (character 3 of 4)")):
        with pytest.raises(Invalid) as refused:
            secret_text.read(value)
        assert reason in str(refused.value)


@pytest.mark.parametrize(
    "value", [KEY, "k", "key", "Bearer", "key-id:key-secret", "token_1", "Basic=", "{", "x" * 10_000]
)
def test_a_key_of_visible_ascii_is_taken_as_it_is(value):
    assert validation.credentials({"api_key": value}) == {"api_key": value}


@pytest.mark.parametrize("value", ["", "x" * 10_001, 7, None, ["k"]])
def test_what_is_no_text_of_a_sane_length_is_refused(value):
    with pytest.raises(Invalid):
        validation.credentials({"api_key": value})
