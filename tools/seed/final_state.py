"""Sets the state at the history's end: a resting channel, a disabled credential, and live tasks.

Live tasks are submitted and claimed like any others. Their worker is gone: a real worker takes them over, and buys
films that take most of an hour.
"""

import hashlib
from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Now

from accounts.authentication import Caller as AdmittedCaller
from catalog.health import probes
from catalog.models import Channel, ChannelHealth, Credential
from tasks.claims import queue
from tasks.intake import drafts, submission
from tasks.models import Call, Worker
from tools.seed import wishes
from tools.seed.customers import SeedCaller
from tools.seed.wishes import MURAL, WISHES, Wish

RESTING, TROUBLED, LOSING = "atelier", "reel", "studio"
REST = timedelta(minutes=50)
SLOW = "[slow=3000]"  # the sandbox takes this many seconds
RUNNING, WAITING = 3, 6
DISABLED = "quota_exhausted AccountOverdueError: The request failed because your account has an overdue balance."
FILM = next(wish for wish in WISHES if wish.modality == "video")


def channels() -> None:
    """Changes channels of the seed's catalog: one rests, one has lost a credential, one has lost answers."""
    for name, kind, rests in ((RESTING, "overloaded", True), (TROUBLED, "quota_exhausted", False)):
        ChannelHealth.objects.update_or_create(
            channel=Channel.objects.get(name=name),
            defaults={
                "last_kind": kind,
                "last_at": Now(),
                "cooldowns": 4 if rests else 0,
                "cooldown_until": Now() + REST if rests else None,
            },
        )
    lost = Call.objects.filter(Q(state="unknown") | Q(outcome__resolved__isnull=False)).count()
    losing = Channel.objects.get(name=LOSING)
    ChannelHealth.objects.update_or_create(
        channel=losing, defaults={"last_kind": "ambiguous", "last_at": Now(), "unknown_total": lost}
    )
    last = Credential.objects.filter(channel__name=TROUBLED).order_by("pk").last()
    if last is not None:
        probes.disable(last.pk, DISABLED)


def live_tasks(caller: SeedCaller, worker: Worker) -> None:
    """Creates some running and some queued tasks, now. Must not run in a transaction."""
    submit(caller, FILM, RUNNING, SLOW)
    Worker.objects.filter(pk=worker.pk).update(heartbeat_at=Now(), stopped_at=None)
    queue.claim(worker.pk, seats=RUNNING)
    Worker.objects.filter(pk=worker.pk).update(stopped_at=Now())
    submit(caller, MURAL, WAITING, "")


def submit(caller: SeedCaller, wish: Wish, count: int, words: str) -> None:
    """Submits `count` equal requests of a key, as its client would."""
    admitted = AdmittedCaller(
        key_id=caller.key.pk,
        secret_id=caller.secret_id,
        account_id=caller.account_id,
        is_subscription=False,
        balance_micros=0,
        held_micros=0,
        max_queued=caller.key.max_queued,
    )
    waiting = []
    for number in range(count):
        prompt = f"{wishes.SUBJECTS[number]} {wishes.PLACES[number]} {words}".strip()
        order = wishes.examined(caller, wish, prompt, callback_url=caller.habit.callback_url)
        digest = hashlib.sha256(prompt.encode()).hexdigest()
        waiting.append(drafts.draft(order.prepared, caller=admitted, body_digest=digest, idempotency_key=None))
    submission.submit(waiting)
