"""The migration that notes the origin of each credential, forwards and backwards, with rows present."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from catalog import connections, credentials
from common.encryption import encrypt_mapping

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE, AFTER = ("catalog", "0004_drop_channel_faults"), ("catalog", "0005_credential_origins")


def migrate(*targets: tuple[str, str]):
    executor = MigrationExecutor(connection)
    executor.migrate([*targets])
    return MigrationExecutor(connection).loader.project_state([*targets]).apps


@pytest.fixture
def before():
    """The apps as they were; afterwards everything is migrated again."""
    yield migrate(BEFORE)
    migrate(*MigrationExecutor(connection).loader.graph.leaf_nodes())


def test_existing_rows_get_the_origin_of_their_channel(before):
    channel = before.get_model("catalog", "Channel").objects.create(
        name="old", adapter="openai_images", base_url="HTTPS://Images.Example:443/v1"
    )
    rows = before.get_model("catalog", "Credential").objects
    rows.create(channel=channel, ciphertext=encrypt_mapping({"api_key": "in-use"}), last4="")
    left_out = {"disabled_at": "2026-01-01T00:00:00Z", "reason": "no longer in the catalog file"}
    rows.create(channel=channel, ciphertext=encrypt_mapping({"api_key": "left-out"}), last4="", **left_out)
    group = before.get_model("accounts", "Group").objects.create(name="text", platform="openai")
    before.get_model("catalog", "GroupChannel").objects.create(
        group=group, base_url="https://llm.example/v1", ciphertext=encrypt_mapping({"api_key": "g"}), last4=""
    )
    after = migrate(AFTER)
    assert after.get_model("catalog", "GroupChannel").objects.get().origin == "https://llm.example"
    moved = after.get_model("catalog", "Channel").objects.get(name="old")
    found = list(after.get_model("catalog", "Credential").objects.filter(channel=moved).order_by("id"))
    assert [(row.origin, row.retired_at is None) for row in found] == [
        ("https://images.example", True),
        ("https://images.example", False),
    ]
    opened = connections.opened(found[0])
    assert opened is not None
    assert opened.values == {"api_key": "in-use"}
    kept = migrate(BEFORE).get_model("catalog", "Credential").objects.order_by("id")
    assert list(kept.values_list("reason", flat=True)) == ["", "no longer in the catalog file"]


def test_what_moved_or_was_replaced_is_the_same_after_going_back(image_channel):
    image_channel.base_url = "https://elsewhere.example/v1"
    image_channel.save()
    for secret in ("first", "second"):
        credentials.store(image_channel, {"api_key": secret})
    kept = [(row.pk, row.origin, row.retired_at) for row in credentials.of_channel(image_channel.pk)]
    migrate(BEFORE)
    migrate(*MigrationExecutor(connection).loader.graph.leaf_nodes())
    assert [(row.pk, row.origin, row.retired_at) for row in credentials.of_channel(image_channel.pk)] == kept
    assert all(map(connections.opened, credentials.of_channel(image_channel.pk)))
