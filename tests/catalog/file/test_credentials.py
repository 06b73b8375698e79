"""Several credentials of a channel in the catalog file."""

import pytest

from catalog import credentials
from catalog.file import yaml_text
from catalog.file.dump import dump
from catalog.file.load import CatalogFileError, load
from catalog.models import Channel, Credential
from tests.catalog.conftest import FILE

pytestmark = pytest.mark.django_db

ONE, TWO = "{api_key: key-number-one}", "{api_key: key-number-two, organization: org}"


def text(*listed: str) -> str:
    """The file with these credentials of the channel "cinema"."""
    return FILE.replace("{api_key: sandbox}", f"[{', '.join(listed)}]")


@pytest.fixture
def cinema() -> Channel:
    """With two credentials."""
    load(text(ONE, TWO))
    return Channel.objects.get(name="cinema")


def stored(channel: Channel) -> list[str]:
    opened = [credentials.readable(row.ciphertext) for row in credentials.of_channel(channel.pk)]
    return [values["api_key"] for values in opened if values]


def test_a_list_gives_a_channel_several_credentials(cinema: Channel) -> None:
    assert stored(cinema) == ["key-number-one", "key-number-two"]


@pytest.mark.parametrize("again", [(ONE, TWO), (TWO, ONE)])
def test_the_same_list_changes_nothing(cinema: Channel, again: tuple[str, str]) -> None:
    before = list(Credential.objects.order_by("id").values())
    assert load(text(*again)).changed == []
    assert list(Credential.objects.order_by("id").values()) == before


def test_what_a_list_leaves_out_is_retired_and_what_it_adds_is_stored(cinema: Channel) -> None:
    kept = credentials.of_channel(cinema.pk)[1].pk
    for changed in (["channel cinema: credentials"], []):
        assert load(text(TWO, "{api_key: key-number-three}")).changed == changed
    assert stored(cinema) == ["key-number-one", "key-number-two", "key-number-three"]
    first, second, _ = credentials.of_channel(cinema.pk)
    assert (first.retired_at is None, first.reason, first.probe_at) == (False, "no longer in the catalog file", None)
    assert (second.pk, second.retired_at) == (kept, None)


def test_what_was_left_out_and_comes_back_is_enabled_again(cinema: Channel) -> None:
    load(text(TWO))
    load(text(ONE, TWO))
    assert [row.disabled_at for row in credentials.of_channel(cinema.pk)] == [None, None]


def test_what_an_operator_disabled_stays_disabled_while_it_is_listed(cinema: Channel) -> None:
    first = credentials.of_channel(cinema.pk)[0]
    credentials.disable(first, "by an operator")
    first.save()
    assert load(text(ONE, TWO)).changed == []
    assert credentials.of_channel(cinema.pk)[0].disabled_at is not None


def test_a_single_credential_that_is_one_of_several_changes_nothing(cinema: Channel) -> None:
    assert load(FILE.replace("{api_key: sandbox}", TWO)).changed == []
    assert len(stored(cinema)) == 2


@pytest.mark.parametrize("with_credentials", [False, True])
def test_several_credentials_survive_a_dump(cinema: Channel, with_credentials: bool) -> None:
    dumped = dump(with_credentials=with_credentials)
    assert ("key-number-two" in dumped) is with_credentials
    report = load(dumped, prune=True)
    assert (report.created, report.changed, report.removed) == ([], [], [])
    Channel.objects.all().delete()
    load(dumped)
    assert stored(Channel.objects.get(name="cinema")) == ["key-number-one", "key-number-two"]


def test_what_cannot_be_opened_keeps_all_of_a_channel_sealed(cinema: Channel) -> None:
    Credential.objects.filter(pk=credentials.of_channel(cinema.pk)[0].pk).update(ciphertext="unreadable")
    tree, _ = yaml_text.read(dump(with_credentials=True), {})
    dumped = next(channel for channel in tree["channels"] if channel["name"] == "cinema")
    assert dumped["sealed_credentials"][0] == "unreadable"
    assert "credentials" not in dumped


def test_variables_are_filled_in_within_a_list() -> None:
    load(text("{api_key: '${FIRST}'}", "{api_key: '${SECOND:-fallback-key}'}"), environment={"FIRST": "from-env"})
    assert stored(Channel.objects.get(name="cinema")) == ["from-env", "fallback-key"]


WRONG: list[tuple[tuple[str, ...], str]] = [
    ((), "channels[1].credentials: must not be empty: leave it out to keep what is stored"),
    ((ONE, ONE), "channels[1].credentials: must be different credentials"),
    ((ONE, "{api_key: 7}"), "channels[1].credentials[1].api_key: must be text: put it in quotes"),
    ((ONE, "nothing"), "channels[1].credentials[1]: must be a mapping"),
    (
        ("{api_key: '${MISSING}'}",),
        "channels[1].credentials[0].api_key: the environment variable MISSING is not set",
    ),
]


def test_a_wrong_list_is_refused_at_its_place() -> None:
    for listed, problem in WRONG:
        with pytest.raises(CatalogFileError) as refusal:
            load(text(*listed), environment={})
        assert refusal.value.problems == [problem]
