"""Where a relayed call may go: by priority and weight, from memory, and not where a channel or a credential rests."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Group
from adapters.base import ErrorKind, UpstreamError
from catalog import credential_probes, credentials, pausing, relay_channels, relay_standing, snapshot
from catalog.groups import GroupEntry
from catalog.models import Channel, ChannelHealth, Credential, GroupChannel
from catalog.relay_channels import Candidate, Candidates
from tests.rows import add_credential, make_channel

pytestmark = pytest.mark.django_db


@pytest.fixture
def group(db: None) -> Group:
    return Group.objects.create(name="text", platform="openai")


def link(group: Group, name: str, **fields: object) -> Channel:
    channel = make_channel(name, "openai_relay", f"https://{name}.example/v1")
    GroupChannel.objects.create(group=group, channel=channel, **fields)
    return channel


@pytest.fixture
def llm(group: Group) -> Channel:
    return link(group, "llm")


def entry() -> GroupEntry:
    found = snapshot.latest().group(Group.objects.get().pk)
    assert found is not None
    return found


def candidates(dialect: str = "chat") -> Candidates:
    return relay_channels.candidates(entry(), dialect, snapshot.stored_version())


def names(found: Candidates) -> list[str]:
    return [candidate.link.channel.name for candidate in found.ready]


def only() -> Candidate:
    (candidate,) = candidates().ready
    return candidate


def refuse(candidate: Candidate, kind: ErrorKind, **fields: float) -> None:
    relay_channels.refused(candidate, UpstreamError(kind, "The provider's words.", **fields))  # type: ignore[arg-type]


def queries() -> CaptureQueriesContext:
    return CaptureQueriesContext(connection)


def test_the_lower_priority_number_comes_first_and_equal_ones_are_drawn_by_weight(group: Group) -> None:
    for name, priority, weight in [
        ("last", 20, 9),
        ("never", 10, 0),
        ("light", 10, 1),
        ("heavy", 10, 5),
        ("first", 5, 0),
    ]:
        link(group, name, priority=priority, weight=weight)

    def order(waits: dict[int, float]) -> list[str]:
        version = snapshot.stored_version()
        return names(relay_channels.candidates(entry(), "chat", version, draw=lambda weight: waits[int(weight)]))

    assert order({9: 0.0, 1: 2.0, 5: 1.0}) == ["first", "heavy", "light", "never", "last"]
    assert order({9: 0.0, 1: 1.0, 5: 2.0}) == ["first", "light", "heavy", "never", "last"]


def test_a_channel_that_does_not_speak_the_dialect_is_left_out(group: Group, llm: Channel) -> None:
    link(group, "both", dialects=["messages"], priority=1)
    link(group, "off", enabled=False)
    assert names(candidates("chat")) == ["both", "llm"]
    assert names(candidates("messages")) == ["both"]


def test_credentials_take_turns_and_a_call_tries_at_most_three(llm: Channel) -> None:
    for number in range(4):
        add_credential(llm, f"credential-number-{number}")
    first, second = candidates(), candidates()
    assert len(first.ready) == 3
    ids = [row.pk for row in credentials.of_channel(llm.pk)]
    position = ids.index(first.ready[0].credential_id or 0)
    assert second.ready[0].credential_id == ids[(position + 1) % 5]
    assert first.ready[0].credentials["api_key"].startswith(("llm-", "credential-"))
    assert first.ready[0].credentials["api_key"] not in repr(first)


def test_it_is_answered_from_memory_until_an_operator_changes_something(llm: Channel) -> None:
    group, version = entry(), snapshot.stored_version()
    assert not relay_standing.kept(version)
    assert relay_channels.remembered(group, "chat", version) is None
    relay_channels.candidates(group, "chat", version)
    with queries() as captured:
        assert relay_standing.kept(version)
        assert relay_channels.remembered(group, "chat", version).ready
        assert relay_channels.candidates(group, "chat", version).ready
    assert len(captured) == 0
    row = credentials.of_channel(llm.pk)[0]
    credentials.disable(row, "by an operator")
    row.save()
    assert not relay_standing.kept(snapshot.stored_version())
    assert candidates() == Candidates(ready=(), resting_seconds=None)


def test_what_other_processes_learn_is_read_a_second_later(llm: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert candidates().ready
    credential_probes.disable(credentials.of_channel(llm.pk)[0].pk, "auth 401")
    assert candidates().ready
    monkeypatch.setattr(relay_standing, "LONGEST_SECONDS", 0.0)
    assert not candidates().ready


def test_a_credential_that_is_limited_rests_and_the_next_one_is_tried(llm: Channel) -> None:
    limited = only()
    second = add_credential(llm, "the-second-credential-5678")
    refuse(limited, ErrorKind.RATE_LIMITED, retry_after=30.0)
    assert [candidate.credential_id for candidate in candidates().ready] == [second.pk]
    refuse(only(), ErrorKind.RATE_LIMITED, retry_after=90.0)
    found = candidates()
    assert found.ready == ()
    assert found.resting_seconds is not None
    assert 29 < found.resting_seconds <= 30


@pytest.mark.parametrize(("kind", "is_busy"), [(ErrorKind.OVERLOADED, True), (ErrorKind.TRANSIENT, False)])
def test_a_channel_rests_and_only_one_that_was_busy_says_when_to_come_back(
    llm: Channel, kind: ErrorKind, is_busy: bool
) -> None:
    refuse(only(), kind, retry_after=30.0)
    found = candidates()
    assert (found.ready, found.resting_seconds is not None) == ((), is_busy)
    (verdict,) = relay_channels.verdicts(entry(), "chat", snapshot.stored_version())
    assert verdict.obstacle in ("cools down for 30 s more", "cools down for 29 s more")


def test_a_rest_ends_at_its_moment_though_the_memory_is_older(llm: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(only(), ErrorKind.OVERLOADED, retry_after=30.0)
    group, version = entry(), snapshot.stored_version()
    assert not relay_channels.candidates(group, "chat", version).ready
    reading = relay_standing.last()
    assert reading is not None
    end = reading.of(llm.pk).rests_until
    monkeypatch.setattr(relay_standing, "LONGEST_SECONDS", 1000.0)
    monkeypatch.setattr("catalog.relay_channels.time.monotonic", lambda: end)
    assert names(relay_channels.candidates(group, "chat", version)) == ["llm"]


@pytest.mark.parametrize("kind", [ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED])
def test_a_credential_that_is_refused_is_disabled_and_probed(llm: Channel, kind: ErrorKind) -> None:
    refuse(only(), kind)
    assert candidates() == Candidates(ready=(), resting_seconds=None)
    row = Credential.objects.get()
    assert (row.disabled_at is None, row.probe_at is None) == (False, False)
    (verdict,) = relay_channels.verdicts(entry(), "chat", snapshot.stored_version())
    assert verdict.obstacle == "every credential is disabled"


@pytest.mark.parametrize(
    ("change", "obstacle"),
    [
        ({"origin": "https://elsewhere.example"}, "has no credential for its address"),
        ({"ciphertext": "unreadable"}, "no credential can be opened"),
    ],
)
def test_a_secret_of_another_origin_and_one_that_does_not_open_are_not_sent(
    llm: Channel, change: dict[str, str], obstacle: str
) -> None:
    Credential.objects.update(**change)
    (verdict,) = relay_channels.verdicts(entry(), "chat", snapshot.stored_version())
    assert (verdict.ready, verdict.obstacle) == ((), obstacle)


@pytest.mark.parametrize("halt", [pausing.pause, pausing.drain])
def test_a_channel_that_an_operator_has_halted_is_passed_over_at_once(group: Group, llm: Channel, halt: Any) -> None:
    link(group, "spare", priority=20)
    assert names(candidates()) == ["llm", "spare"]
    halt(llm)
    assert names(candidates()) == ["spare"]
    verdict = relay_channels.verdicts(entry(), "chat", snapshot.stored_version())[0]
    assert verdict.obstacle == f"is {pausing.standing(llm)}"
    pausing.resume(llm)
    assert len(candidates().ready) == 2


def test_a_channel_that_is_elsewhere_now_gets_no_secret_of_its_former_address(llm: Channel) -> None:
    assert candidates().ready
    Channel.objects.update(base_url="https://thief.example/v1")
    assert candidates() == Candidates(ready=(), resting_seconds=None)


def test_a_success_writes_only_where_something_counts_against_the_channel(llm: Channel) -> None:
    candidate = only()
    with queries() as captured:
        relay_channels.succeeded(candidate)
        refuse(candidate, ErrorKind.INVALID_REQUEST)
    assert len(captured) == 0
    refuse(candidate, ErrorKind.TRANSIENT)
    assert candidates().ready == ()
    relay_channels.succeeded(candidate)
    assert ChannelHealth.objects.get().cooldowns == 0
    assert candidates().ready
    assert not relay_channels.is_marked(candidate)


def test_a_success_before_the_end_of_a_busy_channels_rest_is_written_once(llm: Channel) -> None:
    candidate = only()
    refuse(candidate, ErrorKind.OVERLOADED, retry_after=30.0)
    candidates()
    relay_channels.succeeded(candidate)
    assert candidates().ready == ()
    with queries() as captured:
        relay_channels.succeeded(candidate)
    assert len(captured) == 0


def test_what_is_forgotten_while_it_is_read_is_not_kept(llm: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    group, version, read = entry(), snapshot.stored_version(), relay_standing._read

    def slow(version: int) -> relay_standing.ChannelReading:
        reading = read(version)
        relay_standing.forget()
        return reading

    monkeypatch.setattr(relay_standing, "_read", slow)
    assert relay_channels.candidates(group, "chat", version).ready
    assert not relay_standing.kept(version)


def test_only_a_fault_of_its_credential_leaves_the_channel_worth_another_try(group: Group, llm: Channel) -> None:
    add_credential(llm, "the-second-credential-5678")
    link(group, "other", priority=20)
    first, second, other = candidates().ready

    def left(kind: ErrorKind) -> Iterator[bool]:
        for candidate in (second, other):
            yield relay_channels.may_follow(candidate, first, UpstreamError(kind, ""))

    for kind in (ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED, ErrorKind.RATE_LIMITED):
        assert list(left(kind)) == [True, True]
    for kind in (ErrorKind.TRANSIENT, ErrorKind.OVERLOADED, ErrorKind.INVALID_REQUEST):
        assert list(left(kind)) == [False, True]
