"""Tells in JSON what every reader of `common/params` makes of the field `seed` of videos, which the tree that it runs
in declares and ours does not (`test_one_declaration.py`)."""

import json
import sys
from decimal import Decimal

import django

django.setup()

from adapters import expression, registry  # noqa: E402
from adapters.ark.videos import ArkContentTasks  # noqa: E402
from adapters.kit import checks  # noqa: E402
from catalog.entries import ChannelEntry, ModelEntry, PlanEntry, RouteEntry  # noqa: E402
from catalog.runnable import films  # noqa: E402
from catalog.runnable.trials import Trials  # noqa: E402
from common.errors import InvalidRequest  # noqa: E402
from console.create import fields  # noqa: E402
from reference.document import document  # noqa: E402
from tasks.request import params, stored_params  # noqa: E402
from tasks.request.schema import params_schema  # noqa: E402
from tests.tasks.request.param_requests import rules, video  # noqa: E402
from tools import adapter_docs, interface_docs  # noqa: E402


class Seeded(ArkContentTasks):
    """An adapter that has learned the field."""

    protocol = "seeded"
    expresses = checks.fields("video", "seed")


def read(seed: object, bounds: dict) -> object:
    try:
        return params.parser("video", bounds).parse(video(seed=seed), model_name="aurora", rules=rules(bounds)).seed
    except InvalidRequest as error:
        return error.message


def bounds(adapter: str) -> dict:
    channel = ChannelEntry(
        id=1, name="c", adapter=adapter, base_url="https://a.example.com", options={}, max_running=None, enabled=True
    )
    route = RouteEntry(
        id=1, plan_id=1, model_id=1, channel=channel, priority=1, weight=1, resubmit_ambiguous=False,
        upstream_model="m", capabilities={}, extra_fields=(), fixed={}, cost={},
    )  # fmt: skip
    model = ModelEntry(
        id=1, name="aurora", aliases=(), modality="video", default_plan_id=1, pricing_mode="video_duration",
        prices={"*": Decimal(1)}, params={}, enabled=True,
    )  # fmt: skip
    plan = PlanEntry(id=1, name="p", price_multiplier=Decimal(1))
    return films.of(Trials(model=model, plan=plan, routes=(route,)))


registry.ADAPTERS["seeded"] = Seeded()
request = params.parser("video", {}).parse(video(seed=7), model_name="aurora", rules=rules({}))
stored = json.loads(json.dumps(stored_params.dump(request)))
columns = {column.name: column for column in adapter_docs.columns("video")}
published = params_schema("video", {})
page = interface_docs.written(interface_docs.PAGE.read_text())
form = fields.made("aurora", "video", published, {})
widget = next(widget for widget in form.more if widget.path == "params.seed")
found = {
    "the parser": [read(7, {}), read(-1, {}), read(7, {"seed": {"values": []}})],
    "the stored form": [stored["seed"], stored_params.load_to_buy("video", stored) == request],
    "params_schema": [published["properties"]["seed"], params_schema("video", bounds("runway"))["properties"]["seed"]],
    "what routes can express": [bounds(name).get("seed") for name in ("runway", "seeded")],
    "the OpenAPI document": document()["components"]["schemas"]["VideoParams"]["properties"]["seed"],
    "the interface's table": [line for line in page.splitlines() if line.startswith("| `seed` |")],
    "the console's form": [widget.kind, widget.label, widget.low, widget.high, widget.is_whole],
    "the matrix of adapters": {
        name: columns[name].word(adapter_docs.CHANGES["video"]["seed"]) for name in ("runway", "seeded")
    },
    "adapters": [
        [problem.field for problem in expression.check(adapter, request, columns["seeded"].target)]
        for adapter in (registry.ADAPTERS["runway"], Seeded())
    ],
    "older plug-ins": "seed" in expression.UNDECLARED,
}
sys.stdout.write(json.dumps(found))
