"""Parser of the `--plan MODEL=PLAN` arguments of create_key."""

from collections.abc import Iterable

from catalog.models import MediaModel, ModelName, Plan, Route
from desk.commands.command import refusal, text


def parse(choices: Iterable[str]) -> dict[MediaModel, Plan]:
    """Map each named model to its plan. `MODEL=PLAN` applies to every modality of the name or alias;
    `MODEL:MODALITY=PLAN` applies to one and takes precedence. Raises CommandError."""
    broad: dict[MediaModel, Plan] = {}
    exact: dict[MediaModel, Plan] = {}
    for choice in choices:
        name, equals, plan_name = text("--plan", choice, at_most=500).partition("=")
        if not equals:
            raise refusal("--plan", choice, "is not MODEL=PLAN")
        models, is_exact = _models(choice, name)
        plan = _plan(choice, plan_name)
        target = exact if is_exact else broad
        for model in models:
            if target.setdefault(model, plan) != plan:
                raise refusal("--plan", choice, f"is a second plan for {model}")
    return broad | exact


def unserved(choices: dict[MediaModel, Plan]) -> list[str]:
    """List choices without an enabled route: their models use the default plan until one exists."""
    pairs = set(Route.objects.filter(enabled=True).values_list("model_id", "plan_id"))
    return [f"{model}={plan}" for model, plan in choices.items() if (model.pk, plan.pk) not in pairs]


def _models(choice: str, name: str) -> tuple[list[MediaModel], bool]:
    """Find the models with this name, and whether it included a modality. A name may itself contain a colon."""
    bare, _, modality = name.rpartition(":")
    named = ModelName.objects.select_related("model")
    if models := [row.model for row in named.filter(name=name)]:
        return models, False
    if models := [row.model for row in named.filter(name=bare, modality=modality)]:
        return models, True
    raise refusal("--plan", choice, f"names no model: there is no {name!r}")


def _plan(choice: str, name: str) -> Plan:
    plan: Plan | None = Plan.objects.filter(name=name).first()
    if plan is None:
        raise refusal("--plan", choice, f"names no plan: there is no {name!r}")
    return plan
