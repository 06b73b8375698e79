"""Creates relayed calls of general keys, with the sums that `/v1/usage` shows."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from billing import relayed_calls
from billing.models import RelayedCall, RelayUsage
from catalog import model_patterns, token_prices
from catalog.models import GroupChannel, GroupOffer
from catalog.token_prices import MostUsed, TokenPrice
from common import ids
from common.token_usage import COUNTS, TokenUsage
from tools.seed import rhythm
from tools.seed.customers import Payer, SeedCaller
from tools.seed.rows import HistoryRows, Money

DIALECTS = {"openai": ("chat", "responses"), "anthropic": ("messages",), "gemini": ("generate_content",)}
OF_A_TASK = 0.2
"""Calls for each task."""
NO_USAGE = TokenUsage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """Choices of a general key: a channel of its group, and the models with their prices."""

    caller: SeedCaller
    channel: GroupChannel
    prices: dict[str, TokenPrice]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayedFinish:
    """End of a call as on its row; its hold was released unless `is_charged`."""

    outcome: str
    weight: float
    http_status: int = 200
    kind: str = "answered"
    is_charged: bool = True
    is_estimated: bool = False
    is_loss: bool = False


FINISHES = (
    RelayedFinish(outcome="succeeded", weight=90),
    RelayedFinish(outcome="left", weight=4, is_estimated=True),
    RelayedFinish(outcome="cut", weight=1, kind="answered", is_charged=False, is_loss=True),
    RelayedFinish(outcome="refused", weight=4, http_status=429, kind="rate_limited", is_charged=False),
    RelayedFinish(outcome="unknown", weight=1, http_status=502, kind="ambiguous", is_charged=False, is_loss=True),
)


def tell(
    rng: random.Random,
    rows: HistoryRows,
    payers: Sequence[Payer],
    process: str,
    since: datetime,
    until: datetime,
    tasks: int,
) -> None:
    """Creates calls in proportion to the tasks; none if no group serves a key."""
    menus = [menu for payer in payers for caller in payer.callers if caller.habit.group for menu in _menu(caller)]
    if not menus:
        return
    for at in rhythm.moments(rng, since, until - timedelta(minutes=2), max(len(FINISHES), round(tasks * OF_A_TASK))):
        _call(rng, rows, rng.choice(menus), process, at, _finish(rng, len(rows.relayed)))
    rows.usage += _sums(rows.relayed)


def _finish(rng: random.Random, number: int) -> RelayedFinish:
    """Chooses an end; each occurs at least once."""
    if number < len(FINISHES):
        return FINISHES[number]
    return rng.choices(FINISHES, [finish.weight for finish in FINISHES])[0]


def _menu(caller: SeedCaller) -> Iterable[Menu]:
    channel = GroupChannel.objects.select_related("channel").filter(group=caller.key.group).first()
    offer = GroupOffer.objects.filter(group=caller.key.group).first()
    if channel is None or offer is None:
        return
    models = offer.models_listed or []
    patterns = {name: next(iter(model_patterns.holding(offer.prices, name)), "") for name in models}
    prices = {
        name: token_prices.of_row(pattern, offer.prices[pattern]) for name, pattern in patterns.items() if pattern
    }
    if prices:
        yield Menu(caller=caller, channel=channel, prices=prices)


def _call(rng: random.Random, rows: HistoryRows, menu: Menu, process: str, at: datetime, finish: RelayedFinish) -> None:
    model = rng.choice(sorted(menu.prices))
    price, usage = menu.prices[model], _usage(rng)
    ended_at = at + timedelta(milliseconds=rng.randrange(400, 40_000))
    seen = usage if finish.is_charged else NO_USAGE
    bound = price.bound_micros(MostUsed(input_tokens=usage.input_tokens, output_tokens=8192))
    actual = price.cost_micros(usage) if finish.is_charged else None
    group, channel = menu.caller.key.group, menu.channel.channel
    call = RelayedCall(
        id=relayed_calls.PREFIX + ids.encode(int(at.timestamp() * 1000) << 80 | rng.getrandbits(80)),
        account_id=menu.caller.account_id,
        key_id=menu.caller.key.pk,
        group_id=menu.caller.key.group_id or 0,
        process=process,
        model=model,
        dialect=rng.choice(DIALECTS[group.platform if group else "openai"]),
        channel_id=channel.pk,
        is_stream=rng.random() < 0.7,
        state="settled" if finish.is_charged else "released",
        created_at=at,
        ended_at=ended_at,
        estimated_micros=bound,
        actual_micros=actual,
        price=price.document(),
        outcome=finish.outcome,
        is_estimated=finish.is_estimated,
        is_loss=finish.is_loss,
        attempts=[
            {
                "channel_id": channel.pk,
                "channel": channel.name,
                "seconds": round(rng.uniform(0.3, 4), 3),
                "kind": finish.kind,
            }
        ],
        http_status=finish.http_status,
        request_id=f"{rng.getrandbits(128):032x}",
        **{name: getattr(seen, name) for name in COUNTS},
    )
    rows.relayed.append(call)
    rows.money.append(
        Money(
            reference=call.pk,
            account_id=call.account_id,
            key_id=call.key_id,
            held_micros=bound,
            charged_micros=actual,
            created_at=at,
            ended_at=ended_at,
        )
    )


def _usage(rng: random.Random) -> TokenUsage:
    given = round(900 * rng.lognormvariate(0, 1))
    made = min(8000, round(420 * rng.lognormvariate(0, 0.8)))
    cached = round(given * 0.6) if rng.random() < 0.4 else 0
    return TokenUsage(input_tokens=given, cached_tokens=cached, output_tokens=made, reasoning_tokens=made // 5)


def _sums(calls: Iterable[RelayedCall]) -> Iterable[RelayUsage]:
    """Sums the settled calls by key, day and model."""
    sums: dict[tuple[int, object, str], RelayUsage] = {}
    for call in calls:
        if call.actual_micros is None:
            continue
        day = call.created_at.astimezone(UTC).date()
        place = (call.key_id, day, call.model)
        total = sums.setdefault(
            place, RelayUsage(key_id=call.key_id, day=day, model=call.model, calls=0, cost_micros=0)
        )
        total.calls += 1
        total.cost_micros += call.actual_micros
        for name in COUNTS:
            setattr(total, name, getattr(total, name) + getattr(call, name))
    return sums.values()
