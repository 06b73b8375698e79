"""A catalog file that moves a channel to another origin: what is stored is never sent there."""

import pytest

from catalog import credentials
from catalog.file.dump import dump
from catalog.file.load import CatalogFileError, load
from catalog.models import Channel, GroupChannel
from tests.catalog.conftest import FILE
from tests.rows import opened

pytestmark = pytest.mark.django_db

SECRET = "    credentials: {api_key: sandbox}\n"
BARE = FILE.replace(SECRET, "")
OLD, NEW = "http://127.0.0.1:8900", "https://ark.example"
FILMS = "/ark/api/v3"
NEEDED = (
    f"channels[1].credentials: is required, as base_url moves to another origin ({NEW}): "
    f"what is stored was entered for {OLD} and is sent nowhere else"
)


def moved(text: str, to: str = NEW) -> str:
    """The file with the channel "cinema" elsewhere."""
    return text.replace(OLD + FILMS, to + FILMS)


def problems(text: str) -> list[str]:
    with pytest.raises(CatalogFileError) as refusal:
        load(text)
    return refusal.value.problems


def rows() -> list[tuple[str, bool]]:
    """The origin of each of the channel's credentials, and whether it is retired."""
    found = credentials.of_channel(Channel.objects.get(name="cinema").pk)
    return [(row.origin, row.retired_at is not None) for row in found]


def test_a_move_without_the_secret_is_refused_and_changes_nothing() -> None:
    load(FILE)
    before = dump()
    assert problems(moved(BARE)) == [NEEDED]
    assert dump() == before


def test_a_move_with_the_secret_makes_a_new_row_and_retires_the_old_one() -> None:
    load(FILE)
    for _ in range(2):
        load(moved(FILE))
        assert rows() == [(OLD, True), (NEW, False)]
    assert load(moved(FILE)).changed == []
    assert opened(Channel.objects.get(name="cinema")) == {"api_key": "sandbox"}


def test_a_list_of_secrets_moves_too_and_retires_the_old_ones() -> None:
    load(FILE)
    listed = moved(FILE).replace("{api_key: sandbox}", "[{api_key: sandbox}, {api_key: another}]")
    for _ in range(2):
        load(listed)
        assert rows() == [(OLD, True), (NEW, False), (NEW, False)]


@pytest.mark.parametrize("same", ["http://127.0.0.1:8900/other", "HTTP://127.0.0.1:8900"])
def test_another_path_or_spelling_of_the_origin_keeps_the_secret(same: str) -> None:
    load(FILE)
    load(moved(BARE, same))
    assert rows() == [(OLD, False)]


def test_a_changed_secret_is_a_new_row_once() -> None:
    load(FILE)
    fresh = FILE.replace("{api_key: sandbox}", '{api_key: "${KEY}"}')
    for value in ("first", "first", "second", "first"):
        load(fresh, environment={"KEY": value})
    found = credentials.of_channel(Channel.objects.get(name="cinema").pk)
    assert [credentials.readable(row.ciphertext) for row in found] == [
        {"api_key": value} for value in ("sandbox", "first", "second")
    ]
    assert [row.retired_at is None for row in found] == [False, True, False]


def sealed(text: str) -> str:
    load(text)
    return dump()


def test_a_sealed_secret_loads_only_for_its_origin() -> None:
    text = moved(sealed(FILE))
    Channel.objects.all().delete()
    (problem,) = problems(text)
    assert problem.startswith(f"channels[0].sealed_credentials: was sealed for {OLD} and not for {NEW}")
    assert not Channel.objects.exists()


def test_a_sealed_secret_loads_for_another_channel_of_its_origin() -> None:
    text = sealed(FILE)
    Channel.objects.all().delete()
    load(text.replace("name: cinema", "name: theatre").replace("channel: cinema", "channel: theatre"))
    assert opened(Channel.objects.get(name="theatre")) == {"api_key": "sandbox"}


def test_retired_credentials_are_not_dumped() -> None:
    load(FILE)
    load(moved(FILE))
    text = dump()
    assert text.count("sealed_credentials:") == 3  # of two channels and a group
    assert load(text).changed == []


GROUP = 'credentials: {api_key: "k-1234567890-abcd"}, '


def group_secrets() -> list[dict[str, str] | None]:
    """Those in use, channel by channel."""
    links = GroupChannel.objects.order_by("id")
    return [credentials.readable(row.ciphertext) for link in links for row in credentials.current(link.channel_id)]


def test_a_groups_channel_that_moves_needs_its_secret_again() -> None:
    load(FILE)
    elsewhere = FILE.replace("https://llm.example/v1", "https://thief.example/v1")
    (problem,) = problems(elsewhere.replace(GROUP, ""))
    assert problem.startswith("groups[0].channels[0].credentials: is required, as base_url moves")
    assert group_secrets() == [{"api_key": "k-1234567890-abcd"}]
    load(elsewhere)
    found = credentials.of_channel(GroupChannel.objects.get().channel_id)
    assert [(row.origin, row.retired_at is None) for row in found] == [
        ("https://llm.example", False),
        ("https://thief.example", True),
    ]


def test_a_groups_channel_keeps_its_secret_on_another_path() -> None:
    load(FILE)
    load(FILE.replace("https://llm.example/v1", "https://llm.example:443/v2").replace(GROUP, ""))
    assert group_secrets() == [{"api_key": "k-1234567890-abcd"}]


def test_a_groups_sealed_secret_loads_only_for_its_origin() -> None:
    text = sealed(FILE).replace("https://llm.example/v1", "https://thief.example/v1")
    (problem,) = problems(text)
    assert problem.startswith("groups[0].channels[0].sealed_credentials: was sealed for https://llm.example and not")


def test_a_second_channel_of_a_group_cannot_take_the_secret_of_the_first() -> None:
    load(FILE)
    both = '[{base_url: "https://llm.example/v1", priority: 10}, {base_url: "https://llm.example/v2", priority: 20}]'
    text = FILE.replace('[{base_url: "https://llm.example/v1", ' + GROUP + "priority: 10}]", both)
    (problem,) = problems(text)
    assert problem.startswith("groups[0].channels[1].credentials: is required")
