"""Where a relayed call may go: by priority and weight, from memory, and not where a channel or a credential rests."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Group
from adapters.base import ErrorKind, UpstreamError
from catalog import credentials, pausing, relay_channels, snapshot
from catalog.groups import GroupEntry
from catalog.health import relay_reading
from catalog.models import Channel, ChannelHealth, Credential, GroupChannel, Rest
from catalog.relay_channels import Candidate, Candidates, ChannelQuery
from tests.refusing import disable
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


CHAT = ChannelQuery(dialect="chat", model="gpt-5.2", account_id=1)


def candidates(dialect: str = "chat", **wanted: Any) -> Candidates:
    return relay_channels.candidates(entry(), replace(CHAT, dialect=dialect, **wanted), snapshot.stored_version())


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
        return names(relay_channels.candidates(entry(), CHAT, version, draw=lambda weight: waits[int(weight)]))

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
    assert not relay_reading.kept(version)
    assert relay_channels.remembered(group, CHAT, version) is None
    relay_channels.candidates(group, CHAT, version)
    with queries() as captured:
        assert relay_reading.kept(version)
        assert relay_channels.remembered(group, CHAT, version).ready
        assert relay_channels.candidates(group, CHAT, version).ready
    assert len(captured) == 0
    row = credentials.of_channel(llm.pk)[0]
    credentials.disable(row, "by an operator")
    row.save()
    assert not relay_reading.kept(snapshot.stored_version())
    assert candidates() == Candidates(ready=())


def test_what_other_processes_learn_is_read_a_second_later(llm: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert candidates().ready
    disable(credentials.of_channel(llm.pk)[0])
    assert candidates().ready
    monkeypatch.setattr(relay_reading, "LONGEST_SECONDS", 0.0)
    assert not candidates().ready


def test_a_credential_that_is_limited_rests_and_the_next_one_is_tried(llm: Channel) -> None:
    limited = only()
    second = add_credential(llm, "the-second-credential-5678")
    refuse(limited, ErrorKind.RATE_LIMITED, retry_after=30.0)
    assert [candidate.credential_id for candidate in candidates().ready] == [second.pk]
    refuse(only(), ErrorKind.RATE_LIMITED, retry_after=90.0)
    found = candidates()
    assert found.ready == ()
    (resting,) = found.resting
    assert 29 < resting.seconds <= 30
    assert resting.cause == Rest.Cause.RATE
    assert len(candidates(model="another").ready) == 2


@pytest.mark.parametrize(("kind", "is_busy"), [(ErrorKind.OVERLOADED, True), (ErrorKind.TRANSIENT, False)])
def test_a_channel_rests_and_only_one_that_was_busy_says_when_to_come_back(
    llm: Channel, kind: ErrorKind, is_busy: bool
) -> None:
    refuse(only(), kind, retry_after=30.0)
    found = candidates()
    assert (found.ready, bool(found.resting)) == ((), is_busy)
    (verdict,) = relay_channels.verdicts(entry(), CHAT, snapshot.stored_version())
    assert verdict.obstacle in ("cools down for 30 s more", "cools down for 29 s more")


def test_a_rest_ends_at_its_moment_though_the_memory_is_older(llm: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(only(), ErrorKind.OVERLOADED, retry_after=30.0)
    group, version = entry(), snapshot.stored_version()
    assert not relay_channels.candidates(group, CHAT, version).ready
    reading = relay_reading.last()
    assert reading is not None
    monkeypatch.setattr(relay_reading, "LONGEST_SECONDS", 1000.0)
    monkeypatch.setattr("catalog.health.relay_reading.time.monotonic", lambda: reading.read_at + 31)
    assert names(relay_channels.candidates(group, CHAT, version)) == ["llm"]


def test_a_model_that_a_channel_refuses_rests_there_for_the_account(group: Group, llm: Channel) -> None:
    link(group, "spare", priority=20)
    for _ in range(2):
        refuse(candidates().ready[0], ErrorKind.MODEL_UNAVAILABLE)
    assert names(candidates()) == ["spare"]
    assert names(candidates(account_id=2)) == ["llm", "spare"]
    assert names(candidates(model="another")) == ["llm", "spare"]
    verdict = relay_channels.verdicts(entry(), CHAT, snapshot.stored_version())[0]
    assert verdict.obstacle.startswith("rests with this model, which it refuses, for 3")


def test_one_call_tries_what_rested(group: Group, llm: Channel) -> None:
    for _ in range(2):
        refuse(only(), ErrorKind.MODEL_UNAVAILABLE)
    Rest.objects.exclude(until=None).update(until="2026-01-01T00:00:00Z")
    relay_reading.forget()
    candidate = only()
    assert len(candidate.call.tried) == 1
    assert relay_channels.begin_trial(candidate)
    assert not relay_channels.begin_trial(candidate)
    relay_channels.succeeded(candidate)  # without a reading in between
    assert only().call.tried == frozenset()


def test_a_credential_that_is_refused_is_suspected_and_stays_in_use(llm: Channel) -> None:
    refuse(only(), ErrorKind.AUTH)
    assert names(candidates()) == ["llm"]
    disable(Credential.objects.get())
    relay_reading.forget()
    assert candidates() == Candidates(ready=())
    (verdict,) = relay_channels.verdicts(entry(), CHAT, snapshot.stored_version())
    assert verdict.obstacle == "every credential is disabled"


def test_an_account_without_credit_there_rests_its_credential_from_two_accounts_calls(llm: Channel) -> None:
    for _ in range(5):
        refuse(only(), ErrorKind.QUOTA_EXHAUSTED)
    (other,) = candidates(account_id=2).ready
    refuse(other, ErrorKind.QUOTA_EXHAUSTED)
    found = candidates(account_id=3)
    assert found.ready == ()
    assert [resting.cause for resting in found.resting] == [Rest.Cause.ACCOUNT]


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
    (verdict,) = relay_channels.verdicts(entry(), CHAT, snapshot.stored_version())
    assert (verdict.ready, verdict.obstacle) == ((), obstacle)


@pytest.mark.parametrize("halt", [pausing.pause, pausing.drain])
def test_a_channel_that_an_operator_has_halted_is_passed_over_at_once(group: Group, llm: Channel, halt: Any) -> None:
    link(group, "spare", priority=20)
    assert names(candidates()) == ["llm", "spare"]
    halt(llm)
    assert names(candidates()) == ["spare"]
    verdict = relay_channels.verdicts(entry(), CHAT, snapshot.stored_version())[0]
    assert verdict.obstacle == f"is {pausing.standing(llm)}"
    pausing.resume(llm)
    assert len(candidates().ready) == 2


def test_a_channel_that_is_elsewhere_now_gets_no_secret_of_its_former_address(llm: Channel) -> None:
    assert candidates().ready
    Channel.objects.update(base_url="https://thief.example/v1")
    assert candidates() == Candidates(ready=())


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


def test_a_refusal_without_a_reason_asks_and_writes_nothing(llm: Channel) -> None:
    candidate = only()
    with queries() as captured:
        refuse(candidate, ErrorKind.FORBIDDEN)
        relay_channels.remembered(entry(), CHAT, snapshot.stored_version())
    assert not [query for query in captured if "catalog_rest" in query["sql"] or "UPDATE" in query["sql"]]


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
    group, version, read = entry(), snapshot.stored_version(), relay_reading._read

    def slow(version: int) -> relay_reading.RelayReading:
        reading = read(version)
        relay_reading.forget()
        return reading

    monkeypatch.setattr(relay_reading, "_read", slow)
    assert relay_channels.candidates(group, CHAT, version).ready
    assert not relay_reading.kept(version)


def test_only_a_fault_of_its_credential_leaves_the_channel_worth_another_try(group: Group, llm: Channel) -> None:
    add_credential(llm, "the-second-credential-5678")
    link(group, "other", priority=20)
    first, second, other = candidates().ready

    def left(kind: ErrorKind) -> Iterator[bool]:
        for candidate in (second, other):
            yield relay_channels.may_follow(candidate, first, UpstreamError(kind, ""))

    for kind in (ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED, ErrorKind.FORBIDDEN, ErrorKind.RATE_LIMITED):
        assert list(left(kind)) == [True, True]
    for kind in (ErrorKind.TRANSIENT, ErrorKind.OVERLOADED, ErrorKind.INVALID_REQUEST):
        assert list(left(kind)) == [False, True]
