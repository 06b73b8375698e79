"""The channels of a file's groups: rows with names, secrets, weights and other names of models."""

from decimal import Decimal

import pytest

from accounts.models import Group
from catalog import credentials, snapshot
from catalog.file.dump import dump
from catalog.file.load import CatalogFileError, load
from catalog.models import CatalogVersion, Channel, GroupChannel, Route
from tests.catalog.conftest import FILE
from tests.rows import make_account, make_key, opened

pytestmark = pytest.mark.django_db

A, B, C = "https://a.example/v1", "https://b.example/v1", "https://c.example/v1"
FULL = f"""
version: 1
groups:
  - name: text
    platform: openai
    channels:
      - {{base_url: "{A}", credentials: [{{api_key: one}}, {{api_key: two}}], priority: 1, weight: 3}}
      - name: own
        base_url: {B}
        credentials: {{api_key: three}}
        dialects: [messages]
        upstream_models: {{gpt-5.2: vendor/gpt}}
        enabled: false
    models: [gpt-5.2]
    prices:
      gpt-*: {{input: 1.25, output: 10, cached_input: 0.125, cache_write: 2, image_output: 30, max_output_tokens: 4096}}
      o3:
        {{input: 2, output: 8, audio_input: 5, cache_write_1h: 4, image_input: 3, image_tokens: 9000,
          max_input_tokens: 400000, long_context: {{above: 200000, input: 4, audio_input: 6}}}}
    image_prices:
      gpt-image-1: 0.04
      gpt-image-2: {{1024x1024: {{low: 0.01, high: 0.17}}, 1536x1024: 0.06, "*": 0.000000000001}}
    tool_prices: {{web_search: 0.01}}
    extra_fields: [tools, service_tier]
    extra_betas: [context-1m-2025-08-07]
"""


def group(*channels: str, name: str = "text", platform: str = "openai") -> str:
    return f"version: 1\ngroups:\n  - {{name: {name}, platform: {platform}, channels: [{', '.join(channels)}]}}"


def channel(base_url: str, *fields: str, key: str = "") -> str:
    secret = [f"credentials: {{api_key: {key}}}"] if key else []
    return "{" + ", ".join([f'base_url: "{base_url}"', *secret, *fields]) + "}"


def names() -> dict[str, str]:
    return {link.channel.name: link.channel.base_url for link in GroupChannel.objects.select_related("channel")}


def problems(text: str, *, prune: bool = False) -> list[str]:
    with pytest.raises(CatalogFileError) as refusal:
        load(text, prune=prune)
    return refusal.value.problems


def test_all_that_a_group_says_is_in_the_picture() -> None:
    load(FULL)
    entry = snapshot.latest().group(Group.objects.get().pk)
    assert entry is not None
    price = entry.token_price("gpt-5.2")
    assert price is not None
    assert (price.cache_write, price.image_output, price.max_output_tokens) == (2, 30, 4096)
    assert (entry.models, entry.extra_fields) == (("gpt-5.2",), {"tools", "service_tier"})
    assert (entry.extra_betas, entry.tool_prices) == ({"context-1m-2025-08-07"}, {"web_search": Decimal("0.01")})
    (link,) = entry.channels  # the other one is disabled
    assert (link.channel.name, link.channel.adapter, link.priority, link.weight) == ("text-1", "openai_relay", 1, 3)
    other = GroupChannel.objects.get(channel__name="own")
    assert (other.dialects, other.upstream_models, other.enabled) == (["messages"], {"gpt-5.2": "vendor/gpt"}, False)
    assert len(credentials.current(link.channel.id)) == 2


def test_every_amount_and_tier_of_a_price_is_in_the_picture() -> None:
    load(FULL)
    entry = snapshot.latest().group(Group.objects.get().pk)
    assert entry is not None
    price = entry.token_price("o3")
    assert price is not None
    assert (price.audio_input, price.cache_write_1h, price.image_input, price.audio_output) == (5, 4, 3, None)
    assert (price.image_tokens, price.max_input_tokens, price.max_output_tokens) == (9000, 400_000, None)
    long = price.at(200_001)
    assert (long.input, long.cached_input, long.audio_input, long.cache_write_1h, long.output) == (4, 4, 6, 8, 8)
    assert price.at(200_000) is price
    flat, tiers = entry.image_price("gpt-image-1"), entry.image_price("gpt-image-2")
    assert flat is not None
    assert tiers is not None
    assert flat.document() == "0.04"
    assert tiers.document() == {
        "1024x1024": {"low": "0.01", "high": "0.17"},
        "1536x1024": "0.06",
        "*": "0.000000000001",
    }


@pytest.mark.parametrize("with_credentials", [False, True])
def test_neither_a_second_load_nor_a_dump_changes_anything(with_credentials: bool) -> None:
    load(FULL)
    text, before = dump(with_credentials=with_credentials), CatalogVersion.objects.get().version
    for again in (FULL, text):
        for prune in (False, True):
            report = load(again, prune=prune)
            assert (report.created, report.changed, report.removed) == ([], [], []), again
    assert CatalogVersion.objects.get().version == before
    load("version: 1", prune=True)
    load(text)
    assert dump(with_credentials=True).count("name: own") == 1
    assert names() == {"text-1": A, "own": B}


def test_names_stay_with_addresses_and_those_that_are_free_are_given() -> None:
    load(group(channel(A, key="one"), channel(B, key="two")))
    assert names() == {"text-1": A, "text-2": B}
    assert load(group(channel(B), channel(A))).changed == []
    load(group(channel(B)))
    assert names() == {"text-2": B}
    load(group(channel(C, key="three"), channel(B)))
    assert names() == {"text-1": C, "text-2": B}


def test_a_channel_without_a_name_that_moves_is_the_same_row_with_its_new_secret() -> None:
    load(group(channel(A, key="one")))
    row = Channel.objects.get()
    load(group(channel(B, key="two")))
    moved = Channel.objects.get()
    assert (moved.pk, moved.name, moved.base_url, opened(moved)) == (row.pk, "text-1", B, {"api_key": "two"})


def test_a_named_channel_that_moves_needs_its_secret_again() -> None:
    load(group(channel(A, "name: own", key="one")))
    (problem,) = problems(group(channel(B, "name: own")))
    assert problem.startswith("groups[0].channels[0].credentials: is required, as base_url moves to another origin")
    assert names() == {"own": A}


def test_another_platform_makes_other_adapters_of_its_channels() -> None:
    load(group(channel(A, key="one")))
    assert load(group(channel(A), platform="gemini")).changed == ["group text: platform, channels"]
    assert Channel.objects.get().adapter == "gemini_relay"


@pytest.mark.parametrize("where", ["link", "channel"])
def test_enabled_is_said_of_the_channel_as_the_group_has_it(where: str) -> None:
    load(group(channel(A, key="one")))
    (GroupChannel if where == "link" else Channel).objects.update(enabled=False)
    assert "enabled: false" in dump()
    assert load(dump()).changed == []
    assert load(group(channel(A))).changed == ["group text: channels"]
    assert load(group(channel(A))).changed == []
    assert GroupChannel.objects.filter(enabled=True, channel__enabled=True).exists()


TASKS = FILE[: FILE.index("groups:")]


def test_groups_leave_the_channels_of_tasks_alone_and_tasks_those_of_groups() -> None:
    load(FILE)
    before = dump()
    assert load(TASKS).removed == []
    assert load(group(channel(A, key="one"), name="other")).removed == []
    assert Route.objects.count() == 2
    load(FILE, prune=True)
    assert dump() == before
    report = load(TASKS, prune=True)
    assert report.removed == ["group text"]
    assert set(Channel.objects.values_list("name", flat=True)) == {"studio", "cinema"}


def test_a_group_with_keys_keeps_its_channels() -> None:
    load(group(channel(A, key="one")))
    make_key(make_account("a"), binding="general", group=Group.objects.get())
    load("version: 1", prune=True)
    assert names() == {"text-1": A}


def test_a_channel_of_a_group_is_no_route_of_a_task() -> None:
    load(FILE)
    assert problems(FILE.replace("channel: studio,", "channel: text-1,")) == [
        "plans[0].routes[0]: channel 'text-1' does not offer 'aurora-image'"
    ]
    offered = FILE.replace("adapter: stub_films", "adapter: openai_relay")
    (problem,) = problems(offered)
    assert problem.endswith("adapter openai_relay serves groups of general keys, and runs no models")


def test_a_group_takes_no_pruned_channel_whose_jobs_are_followed() -> None:
    load(FILE)
    text = group(channel(A, "name: studio", key="k"))
    studio = Channel.objects.get(name="studio")
    with pytest.raises(CatalogFileError) as refusal:
        load(text, prune=True, channels_in_use=[studio.pk])
    assert refusal.value.problems == ["groups[0].channels[0].name: 'studio' already names a channel of tasks"]
    assert credentials.current(studio.pk)
    load(text, prune=True)
    assert names() == {"studio": A}


CONFLICTS = [
    (group(channel(A, "name: own"), channel(B, "name: own")), "groups[0].channels[1].name: 'own' is there twice"),
    (group(channel(A, "name: studio")), "groups[0].channels[0].name: 'studio' already names a channel of tasks"),
    (
        group(channel(A, "name: text-1"), name="other"),
        "groups[0].channels[0].name: 'text-1' is a channel of group 'text'",
    ),
    (
        FILE.replace("name: cinema", "name: text-1").replace("channel: cinema", "channel: text-1"),
        "channels[1].name: 'text-1' is a channel of group 'text': it belongs there",
    ),
    (
        FILE.replace('[{base_url: "https://llm', '[{name: cinema, base_url: "https://llm'),
        "groups[0].channels[0].name: 'cinema' is there twice",
    ),
]


def test_a_name_is_of_one_channel() -> None:
    load(FILE)
    before = dump()
    for text, problem in CONFLICTS:
        assert problems(text) == [problem]
    assert dump() == before


def test_a_name_that_is_taken_is_not_given() -> None:
    load(FILE.replace("studio", "text-1"))
    assert names() == {"text-2": "https://llm.example/v1"}


def test_a_channel_of_no_group_may_become_one_and_is_dumped_until_then() -> None:
    spare = (
        f"version: 1\nchannels: [{{name: spare, adapter: openai_relay, base_url: '{A}', credentials: {{api_key: a}}}}]"
    )
    load(spare)
    assert load(dump()).changed == []
    row = Channel.objects.get()
    load(group(channel(A, "name: spare")))
    assert GroupChannel.objects.get().channel_id == row.pk
    assert opened(row) == {"api_key": "a"}
    assert problems(spare.replace(": a}", ": a}, options: {x: 1}, max_running: 2").replace("spare,", "free,")) == [
        "channels[0].options: is of no use to this adapter: leave it out",
        "channels[0].max_running: is of no use to this adapter: leave it out",
    ]


WRONG = [
    ("weight: 3", "weight: -1", "groups[0].channels[0].weight"),
    ("priority: 1", "priority: x", "groups[0].channels[0].priority"),
    ("[{api_key: one}, {api_key: two}]", "[]", "groups[0].channels[0].credentials"),
    ("name: own", "name: 7", "groups[0].channels[1].name"),
    ("{gpt-5.2: vendor/gpt}", "{gpt-5.2: 7}", "groups[0].channels[1].upstream_models.gpt-5.2"),
    ("{gpt-5.2: vendor/gpt}", "[gpt-5.2]", "groups[0].channels[1].upstream_models"),
    ("enabled: false", "enabled: 0", "groups[0].channels[1].enabled"),
    ("enabled: false", "speed: 1", "groups[0].channels[1].speed"),
    ("cache_write: 2", "cache_write: -2", "groups[0].prices.gpt-*.cache_write"),
    ("image_output: 30", "image_output: x", "groups[0].prices.gpt-*.image_output"),
    ("max_output_tokens: 4096", "max_output_tokens: 1.5", "groups[0].prices.gpt-*.max_output_tokens"),
    ("[tools, service_tier]", "[tools, tools]", "groups[0].extra_fields[1]"),
    ("[tools, service_tier]", "tools", "groups[0].extra_fields"),
    ("gpt-*: {input", "' gpt': {input", "groups[0].prices. gpt"),
    ("gpt-image-1: 0.04", '"a\\0": 1', "groups[0].image_prices.a\0"),
    ("[context-1m-2025-08-07]", "[a, a]", "groups[0].extra_betas[1]"),
    ("[context-1m-2025-08-07]", "[7]", "groups[0].extra_betas[0]"),
    ("{web_search: 0.01}", "{web_search: -1}", "groups[0].tool_prices.web_search"),
    ("{web_search: 0.01}", "[web_search]", "groups[0].tool_prices"),
    ("{web_search: 0.01}", "{7: 1}", "groups[0].tool_prices"),
    ("audio_input: 5", "audio_input: true", "groups[0].prices.o3.audio_input"),
    ("cache_write_1h: 4", "cache_write_1h: 100001", "groups[0].prices.o3.cache_write_1h"),
    ("image_input: 3", "image_inptu: 3", "groups[0].prices.o3.image_inptu"),
    ("image_tokens: 9000", "image_tokens: 0", "groups[0].prices.o3.image_tokens"),
    ("max_input_tokens: 400000", "max_input_tokens: 4e5", "groups[0].prices.o3.max_input_tokens"),
    ("above: 200000, ", "", "groups[0].prices.o3.long_context.above"),
    ("above: 200000", "above: 0", "groups[0].prices.o3.long_context.above"),
    (", input: 4, audio_input: 6", "", "groups[0].prices.o3.long_context"),
    (", input: 4, audio", ", input: 1.99, audio", "groups[0].prices.o3.long_context.input"),
    (", audio_input: 6", ", audio_output: 6", "groups[0].prices.o3.long_context.audio_output"),
    (", audio_input: 6", ", cached_input: 1", "groups[0].prices.o3.long_context.cached_input"),
    (", audio_input: 6", ", image_tokens: 6", "groups[0].prices.o3.long_context.image_tokens"),
    ("{above: 200000, input: 4, audio_input: 6}", "7", "groups[0].prices.o3.long_context"),
    ("gpt-image-1: 0.04", "gpt-image-1: {}", "groups[0].image_prices.gpt-image-1"),
    ("gpt-image-1: 0.04", "gpt-image-1: [0.04]", "groups[0].image_prices.gpt-image-1"),
    ("1536x1024: 0.06", "1536X1024: 0.06", "groups[0].image_prices.gpt-image-2.1536X1024"),
    ("1536x1024: 0.06", "1024: 0.06", "groups[0].image_prices.gpt-image-2"),
    ("1536x1024: 0.06", "auto: 0.06", "groups[0].image_prices.gpt-image-2.auto"),
    ("1536x1024: 0.06", "1536x1024: x", "groups[0].image_prices.gpt-image-2.1536x1024"),
    ("1536x1024: 0.06", "1536x1024: {}", "groups[0].image_prices.gpt-image-2.1536x1024"),
    ("high: 0.17", "auto: 0.17", "groups[0].image_prices.gpt-image-2.1024x1024.auto"),
    ("high: 0.17", '"*": 0.17', "groups[0].image_prices.gpt-image-2.1024x1024.*"),
    ("high: 0.17", "high: {hd: 1}", "groups[0].image_prices.gpt-image-2.1024x1024.high"),
]


def test_each_problem_of_a_group_is_named_by_its_path() -> None:
    for old, new, path in WRONG:
        assert old in FULL
        found = problems(FULL.replace(old, new, 1))
        assert [problem.partition(": ")[0] for problem in found] == [path], (new, found)
