"""Buttons of a channel's page: test it, check a test's job, pause, drain, resume, end rests."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.utils import timezone

from catalog import pausing
from catalog.health import words as health_words
from catalog.health.models import forget_refusals
from catalog.models import Channel, ChannelModel, ChannelTest
from catalog.pausing import Pausable
from desk.channel_page import channel_probe, smallest, verdicts
from desk.channel_page.channel_probe import NotTested
from desk.channel_page.smallest import Untestable
from desk.kit.actions import ActionRefused, RowAction
from tasks.models import Task

MANY = 1_000
RIGHTS = {"channel": "catalog.change_channel", "model": "catalog.change_mediamodel"}


def running(row: Pausable) -> str:
    """Count the tasks that run on a channel, up to MANY, as the end of a sentence."""
    if not isinstance(row, Channel):
        return ""
    count = Task.objects.filter(status=Task.Status.RUNNING, channel=row)[:MANY].count()
    return f": {'at least ' if count == MANY else ''}{count or 'no'} task{'' if count == 1 else 's'} there now"


class PausingAction(RowAction):
    """Base of the buttons that pause, drain or resume a channel or a model."""

    standing: ClassVar[str]
    is_atomic = True

    def __init__(self, kind: str) -> None:
        self.right = RIGHTS[kind]  # type: ignore[misc]

    def applies(self, row: Pausable) -> bool:
        return pausing.standing(row) != self.standing

    def apply(self, row: Pausable, values: Mapping[str, Any], *, by: str) -> str:
        if not self.move(row):
            raise ActionRefused(f"It is already {self.standing}.")
        return f"{pausing.name(row).capitalize()} is now {self.standing}."

    def move(self, row: Pausable) -> bool:
        raise NotImplementedError


class PauseAction(PausingAction):
    name, label, standing = "pause", "Pause", "paused"

    def meaning(self, row: Pausable) -> str:
        return (
            f"Stops starting tasks on {pausing.name(row)} from the next claim on: new tasks are accepted and wait, or "
            f"take another route. Running tasks continue{running(row)}."
        )

    def move(self, row: Pausable) -> bool:
        return pausing.pause(row)


class DrainAction(PausingAction):
    name, label, standing = "drain", "Drain", "drained"

    def meaning(self, row: Pausable) -> str:
        return (
            f"Stops accepting tasks for {pausing.name(row)} from the next request on. Queued and running tasks are "
            f"completed{running(row)}."
        )

    def move(self, row: Pausable) -> bool:
        return pausing.drain(row)


class ResumeAction(PausingAction):
    name, label, standing = "resume", "Resume", "on"

    def meaning(self, row: Pausable) -> str:
        told = pausing.told(row)
        return f"{told[:1].upper()}{told[1:]}. After this it accepts and starts tasks again."

    def move(self, row: Pausable) -> bool:
        return pausing.resume(row)


def pausing_actions(kind: str) -> tuple[RowAction, ...]:
    """Build the buttons that pause, drain and resume a `channel` or a `model`."""
    return PauseAction(kind), DrainAction(kind), ResumeAction(kind)


class ChannelTestForm(forms.Form):
    offer = forms.ChoiceField(label="What to buy", widget=forms.RadioSelect)
    prompt = forms.CharField(max_length=1_000, initial=smallest.PROMPT)
    number = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, data: Any, *, channel: Channel) -> None:
        super().__init__(data)
        choices, found = [], list[tuple[bool, int, int]]()
        for offer in channel_probe.offers(channel):
            try:
                each = channel_probe.planned(offer).smallest
            except Untestable:
                continue
            off = "" if offer.enabled else ", switched off"
            name = f"{offer.model.name} as {offer.upstream_model}{off}: {each.words}, {verdicts.cost(each.cost_micros)}"
            choices.append((str(offer.pk), name))
            found.append((each.cost_micros is None, each.cost_micros or 0, offer.pk))
        field: Any = self.fields["offer"]
        field.choices = choices
        field.initial = str(min(found)[-1]) if found else None
        self.fields["number"].initial = channel_probe.number_of(channel)


class ChannelTestAction(RowAction):
    name, label, right = "test", "Test", RIGHTS["channel"]

    def applies(self, row: Channel) -> bool:
        return row.channel_models.exists()

    def meaning(self, row: Channel) -> str:
        return (
            f"Sends one real, paid call to {row.base_url}, exactly like a purchase but without a task or customer. "
            "Your provider bills it; the cost is shown beside each model."
        )

    def form(self, row: Channel, data: Any = None) -> forms.Form:
        return ChannelTestForm(data, channel=row)

    def apply(self, row: Channel, values: Mapping[str, Any], *, by: str) -> str:
        offer = ChannelModel.objects.select_related("channel", "model").get(pk=values["offer"], channel=row)
        try:
            plan = channel_probe.planned(offer, values["prompt"])
            test = channel_probe.run(plan, by=by, number=values["number"])
        except (Untestable, NotTested) as refusal:
            raise ActionRefused(str(refusal)) from None
        what = f"Tested {offer.model.name}, {test.what}, {verdicts.cost(test.cost_micros)}."
        return f"{what} {verdicts.tell(test, timezone.now()).words}"


class PollTestForm(forms.Form):
    number = forms.IntegerField(widget=forms.HiddenInput)


class PollTestAction(RowAction):
    name, label, right = "look", "Check the test's result", RIGHTS["channel"]

    def applies(self, row: Channel) -> bool:
        return ChannelTest.objects.filter(channel=row, state=ChannelTest.State.ACCEPTED).exists()

    def meaning(self, row: Channel) -> str:
        return "Asks the provider once for the state of the last test's job. It buys nothing."

    def form(self, row: Channel, data: Any = None) -> forms.Form:
        return PollTestForm(data, initial={"number": channel_probe.number_of(row)})

    def apply(self, row: Channel, values: Mapping[str, Any], *, by: str) -> str:
        try:
            test = channel_probe.poll(row, number=values["number"])
        except NotTested as refusal:
            raise ActionRefused(str(refusal)) from None
        return f"Checked the last test's result. {verdicts.tell(test, timezone.now()).words}"


class EndRestsAction(RowAction):
    name, label, right = "end_rests", "End its rests", RIGHTS["channel"]
    is_atomic = True

    def applies(self, row: Channel) -> bool:
        return bool(health_words.of_channel(row, timezone.now()))

    def meaning(self, row: Channel) -> str:
        return (
            "Lets the next calls use the whole channel again at once: its models, its credentials and itself. Anything "
            "that is refused again rests again. Disabled credentials stay disabled."
        )

    def apply(self, row: Channel, values: Mapping[str, Any], *, by: str) -> str:
        if not forget_refusals(row.pk):
            raise ActionRefused("Nothing on it rests any more.")
        return "Nothing on it rests now: the next calls use it again."


CHANNEL_ACTIONS: tuple[RowAction, ...] = (
    ChannelTestAction(),
    PollTestAction(),
    EndRestsAction(),
    *pausing_actions("channel"),
)
