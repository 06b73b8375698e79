"""Which patterns hold for the name of a model."""

import pytest

from catalog import model_patterns

PATTERNS = ["*", "gpt-*", "gpt-5*", "gpt-5.2", "o?", "a[b]*", "z*", "zebra-*"]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("gpt-5.2", "gpt-5.2"),
        ("gpt-5.2-mini", "gpt-5*"),
        ("gpt-4o", "gpt-*"),
        ("o3", "o?"),
        ("o33", "*"),
        ("a[b]c", "a[b]*"),
        ("abc", "*"),
        ("zebra-1", "zebra-*"),
        ("x" * 300, "*"),
    ],
)
def test_the_exact_name_holds_and_then_the_pattern_with_the_most_letters(name: str, pattern: str) -> None:
    assert model_patterns.holding(PATTERNS, name) == [pattern]
    assert model_patterns.holding(PATTERNS[::-1], name) == [pattern]


@pytest.mark.parametrize("name", ["claude", "GPT-5.2", "gpt-5", " gpt-5.2", "xgpt-5.2", "gpt-5.2x"])
def test_a_name_that_no_pattern_fits_has_none_and_case_counts(name: str) -> None:
    assert model_patterns.holding(["gpt-5.2", "gpt-5.*-mini"], name) == []


@pytest.mark.parametrize(
    "name", ["", "x" * 301, " x", "x ", "line\nbreak", "x\0", "x\u200b", "x\u00a0", "x\u2028", "\ud800", "x\t"]
)
def test_a_name_that_an_upstream_may_read_otherwise_has_none(name: str) -> None:
    assert model_patterns.holding(["*", name], name) == []


@pytest.mark.parametrize(
    ("patterns", "name", "holding"),
    [
        (["gpt-*", "gpt-5.2-pro"], "gpt-5.2-PRO", ["gpt-*", "gpt-5.2-pro"]),
        (["gpt-*", "gpt-5.2-pro"], "gpt-5.2-pro", ["gpt-5.2-pro"]),
        (["gpt-*", "gpt-5.2-pro"], "gpt-5.2-ｐｒｏ", ["gpt-*", "gpt-5.2-pro"]),
        (["gpt-*", "gpt-5.2-pro"], "GPT-5.2-PRO", []),
        (["gpt-5", "GPT-5", "Gpt-*"], "gpt-5", ["gpt-5", "GPT-5"]),
        (["gpt-5", "GPT-*"], "GPT-5", ["GPT-*", "gpt-5"]),
        (["*", "GPT-5*", "gpt-*"], "gpt-5", ["gpt-*", "GPT-5*"]),
        (["gpt-*", "GPT-*", "Gpt-5.2"], "gpt-5.2", ["gpt-*", "GPT-*", "Gpt-5.2"]),
        (["gpt-*", "GPT-*", "Gpt-5.2"], "Gpt-5.2", ["Gpt-5.2"]),
    ],
)
def test_what_holds_without_case_holds_beside_what_holds_with_it(
    patterns: list[str], name: str, holding: list[str]
) -> None:
    assert model_patterns.holding(patterns, name) == holding


@pytest.mark.parametrize(
    ("patterns", "name", "holding"),
    [
        (["*", "gpt-*"], "gpt-5.2:online", []),
        (["*", "gpt-*"], "gpt-5.2@preset/cheap", []),
        (["*", "gpt-*"], "gpt-5.2#other", []),
        (["gpt-5.?"], "gpt-5.:", []),
        (["gpt-*", "gpt-*:online"], "gpt-5.2:online", ["gpt-*:online"]),
        (["gpt-*", "gpt-*:online"], "gpt-5.2:online:nitro", []),
        (["gpt-*", "GPT-5.2:online"], "gpt-5.2:online", []),
        (["ft:gpt-5*"], "ft:gpt-5.2:org::id", []),
        (["ft:gpt-5*:*:*:*"], "ft:gpt-5.2:org::id", ["ft:gpt-5*:*:*:*"]),
        (["anthropic.claude-*"], "anthropic.claude-3-v2:0", []),
        (["anthropic.claude-*:0"], "anthropic.claude-3-v2:0", ["anthropic.claude-*:0"]),
        (["gpt-5.2:online"], "gpt-5.2:online", ["gpt-5.2:online"]),
        (["tunedModels/*"], "tunedModels/mine-1", ["tunedModels/*"]),
        (["vendor/*"], "vendor/x/y", ["vendor/*"]),
        (["*a*:b"], "xa:b", ["*a*:b"]),
        (["*a*a*"], "banana", ["*a*a*"]),
    ],
)
def test_no_wildcard_stands_for_a_mark_that_changes_the_model(
    patterns: list[str], name: str, holding: list[str]
) -> None:
    assert model_patterns.holding(patterns, name) == holding


def test_no_name_takes_long() -> None:
    pattern = "*a" * 100 + "b"
    assert model_patterns.holding([pattern], "a" * 300) == []
    assert model_patterns.holding([pattern], "a" * 299 + "b") == [pattern]


def test_only_a_pattern_with_a_wildcard_holds_for_several_names() -> None:
    assert [model_patterns.is_wild(pattern) for pattern in ("gpt-5", "gpt-*", "o?", "a[b]")] == [
        False,
        True,
        True,
        False,
    ]
