"""Pause, drain and resume: what the catalog says of a channel or a model then."""

import pytest

from catalog import listing, pausing, snapshot
from catalog.file import dump, load
from catalog.models import Channel, MediaModel
from catalog.pausing import Pausable

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["channel", "model"])
def row(request: pytest.FixtureRequest, routed: MediaModel, studio: Channel) -> Pausable:
    return studio if request.param == "channel" else routed


def offered() -> list[str]:
    return [offer.model.name for offer in listing.offers(snapshot.latest(), 0)]


def test_each_standing_follows_each_other_and_is_told_with_its_time(row: Pausable) -> None:
    assert (pausing.standing(row), pausing.told(row)) == ("on", "")
    for move, standing in ((pausing.pause, "paused"), (pausing.drain, "drained"), (pausing.pause, "paused")):
        assert move(row)
        assert pausing.standing(row) == standing
        assert pausing.told(row).startswith(f"{pausing.name(row)} is {standing} since 20")
        assert list(pausing.halted()) == [row]
    assert pausing.resume(row)
    assert (pausing.standing(row), row.standing_since) == ("on", None)
    assert not list(pausing.halted())


def test_what_is_so_already_keeps_its_time(row: Pausable) -> None:
    assert not pausing.resume(row)
    pausing.pause(row)
    since = row.standing_since
    assert not pausing.pause(row)
    assert row.standing_since == since


def test_what_is_paused_is_offered_and_what_is_drained_is_not(row: Pausable) -> None:
    assert offered() == ["aurora"]
    pausing.pause(row)
    assert offered() == ["aurora"]
    pausing.drain(row)
    assert offered() == []
    pausing.resume(row)
    assert offered() == ["aurora"]


def test_neither_a_stale_copy_nor_a_catalog_file_resumes_it(row: Pausable) -> None:
    text = dump.dump()
    stale = type(row).objects.get(pk=row.pk)
    pausing.pause(row)
    assert dump.dump() == text
    stale.enabled = False
    stale.save()
    assert load.load(text).changed
    row.refresh_from_db()
    assert (row.enabled, pausing.standing(row)) == (True, "paused")
