"""Create an API key and show its secret once."""

from itertools import count
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from accounts import keys
from accounts.models import Account, ApiKey, Group
from catalog.models import MediaModel, Plan, PlanChoice
from desk.commands import budget_words, plan_choices, subjects
from desk.commands.command import DeskCommand, choice, moment, refusal, text, whole


class Command(DeskCommand):
    help = "Create an API key and show its secret once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("account", metavar="ACCOUNT")
        parser.add_argument("--name", metavar="N", help="unique in the account; key-1, key-2, … without it")
        parser.add_argument("--binding", metavar="task|general", default=ApiKey.Binding.TASK.value)
        parser.add_argument("--group", metavar="GROUP", help="of a general key")
        parser.add_argument("--plan", metavar="MODEL[:MODALITY]=PLAN", action="append", default=[])
        parser.add_argument("--no-task-api", action="store_true", help="leave the Task API closed to this key")
        parser.add_argument("--videos", action="store_true", help="open /v1/videos to this Task key")
        parser.add_argument("--max-queued", metavar="N", default=ApiKey._meta.get_field("max_queued").default)
        parser.add_argument("--max-running", metavar="N", default=ApiKey._meta.get_field("max_running").default)
        parser.add_argument("--expires", metavar="ISO8601", help="UTC unless it names a zone")
        parser.add_argument("--budget", metavar="day=USD,month=USD", default="none", help="what it may spend; UTC")
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        key = self.draft(**options)
        plans = plan_choices.parse(options["plan"])
        limits = budget_words.parse("--budget", options["budget"])
        if plans and key.binding != ApiKey.Binding.TASK:
            raise CommandError("--plan: only a task key has plans")
        with transaction.atomic():
            key.account = subjects.account("ACCOUNT", options["account"], lock=True)
            key.name = _name(key.account, options["name"])
            key.save()
            budget_words.give(key, limits)
            PlanChoice.objects.bulk_create(PlanChoice(key=key, model=m, plan=p) for m, p in plans.items())
            secret = keys.issue(key)
        for unserved in plan_choices.unserved(plans):
            self.stderr.write(f"warning: --plan {unserved}: this plan has no route to the model yet")
        return {**subjects.show_key(key), "key": secret, "plans": _shown(plans)}

    def draft(self, **options: Any) -> ApiKey:
        """Build the requested key without account and name."""
        binding = choice("--binding", options["binding"], ApiKey.Binding.values)
        if options["group"] is not None and binding != ApiKey.Binding.GENERAL:
            raise CommandError("--group: only a general key has a group")
        if options["videos"] and binding != ApiKey.Binding.TASK:
            raise CommandError("--videos: only a task key calls /v1/videos")
        return ApiKey(
            binding=binding,
            group=None if options["group"] is None else _group(options["group"]),
            task_api=binding == ApiKey.Binding.TASK and not options["no_task_api"],
            videos_api=options["videos"],
            max_queued=whole("--max-queued", options["max_queued"]),
            max_running=whole("--max-running", options["max_running"]),
            expires_at=None if options["expires"] is None else moment("--expires", options["expires"]),
        )


def _group(name: object) -> Group:
    group = Group.objects.filter(name=text("--group", name, at_most=200)).first()
    if group is None:
        raise refusal("--group", name, "is not the name of a group")
    return group


def _name(account: Account, asked: object) -> str:
    """Return the requested name, or the first free `key-N`. The caller has locked the account."""
    taken = set(account.keys.values_list("name", flat=True))
    if asked is None:
        return next(name for name in (f"key-{n}" for n in count(1)) if name not in taken)
    name = text("--name", asked, at_most=200)
    if name in taken:
        raise CommandError(f"--name: {account.name} has a key {name!r} already")
    return name


def _shown(plans: dict[MediaModel, Plan]) -> list[dict[str, str]]:
    return [{"model": model.name, "modality": model.modality, "plan": plan.name} for model, plan in plans.items()]
