"""What the desk's tests share: commands that answer, rows of every kind, a signed-in operator."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from catalog.models import MediaModel, ModelName, Plan
from tests.rows import make_account, make_key


@pytest.fixture
def run(db):
    """Run a command with --json and return its answer."""

    def run(*arguments: str) -> dict[str, object]:
        output = io.StringIO()
        call_command(arguments[0], "--json", *arguments[1:], stdout=output)
        answer: dict[str, object] = json.loads(output.getvalue())
        return answer

    return run


@pytest.fixture
def refusal(run):
    """The error that a command ends with; empty where it answers."""

    def refusal(*arguments: str) -> str:
        try:
            run(*arguments)
        except CommandError as error:
            return str(error)
        return ""

    return refusal


@pytest.fixture
def acme(db):
    return make_account("acme", usd="10")


@pytest.fixture
def acme_key(acme):
    return make_key(acme, "key-1")


@pytest.fixture
def standard(db) -> Plan:
    return Plan.objects.create(name="standard")


@pytest.fixture
def pro(db) -> Plan:
    return Plan.objects.create(name="pro")


@pytest.fixture
def make_model(standard):
    """Make a model under one or more names."""

    def make(name: str, modality: str, *aliases: str) -> MediaModel:
        model = MediaModel.objects.create(
            name=name, modality=modality, default_plan=standard, pricing_mode="per_request", prices={"*": "0.04"}
        )
        for spelling in (name, *aliases):
            ModelName.objects.create(model=model, modality=modality, name=spelling, is_primary=spelling == name)
        return model

    return make


@pytest.fixture
def aurora(make_model) -> MediaModel:
    return make_model("aurora", "image", "dawn")
