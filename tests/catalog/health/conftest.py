"""A channel with one or two credentials, and a clock of the database that stands still until a test lets time pass."""

from datetime import UTC, datetime, timedelta

import pytest

from catalog import credentials
from catalog.health import states
from catalog.health.states import UNTOUCHED, Availability
from catalog.models import Channel, ChannelHealth, Credential
from common import sql
from tests.refusing import MODEL
from tests.rows import add_credential


@pytest.fixture
def only(studio: Channel) -> Credential:
    return credentials.of_channel(studio.pk)[0]


@pytest.fixture
def second(studio: Channel, only: Credential) -> Credential:
    return add_credential(studio, "the-second-credential-5678")


class Clock:
    """The database's clock."""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 31, 12, tzinfo=UTC)

    def now(self) -> str:
        return self.later("0")

    def later(self, seconds: str) -> str:
        if sql.is_postgresql():
            return f"timestamptz '{self.at}' + make_interval(secs => ({seconds})::double precision)"
        return f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', '{self.at:%Y-%m-%d %H:%M:%S}', ({seconds}) || ' seconds')"

    def let_pass(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    def until(self, moment: datetime | None) -> float:
        """In seconds."""
        assert moment is not None
        return (moment - self.at).total_seconds()

    def cool_down(self, channel: Channel) -> float:
        """How many seconds the channel still cools down."""
        return self.until(ChannelHealth.objects.get(pk=channel.pk).cooldown_until)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(sql, "now", made.now)
    monkeypatch.setattr(sql, "later", made.later)
    return made


def available(channel: Channel, *, model: str = MODEL, account: int = 1) -> Availability:
    """What a call may use of the channel now."""
    return states.read().get(channel.pk, UNTOUCHED).judge(model, account)


def rest(channel: Channel, *, model: str = MODEL, account: int = 1) -> float:
    """For how many whole seconds the channel rests for such a call; 0 where it does not."""
    return round(available(channel, model=model, account=account).seconds, 3)


def state(channel: Channel) -> str:
    """How the channel stands, whatever is asked of it."""
    disabled, resting = states.unusable()
    return "disabled" if channel.pk in disabled else "resting" if channel.pk in resting else "ok"
