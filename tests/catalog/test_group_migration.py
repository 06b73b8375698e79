"""The migration that makes channels of the channels of groups, forwards and backwards, with rows present."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from catalog import credentials, sealing
from catalog.models import Channel, GroupChannel

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = ("catalog", "0006_channel_model_fields")


def migrate(*targets: tuple[str, str]):
    MigrationExecutor(connection).migrate([*targets])
    return MigrationExecutor(connection).loader.project_state([*targets]).apps


def migrate_again():
    return migrate(*MigrationExecutor(connection).loader.graph.leaf_nodes())


@pytest.fixture
def before():
    """The apps as they were; afterwards everything is migrated again."""
    yield migrate(BEFORE)
    migrate_again()


SECRETS = [
    ("text", "https://llm.example/v1", {"api_key": "one"}),
    ("text", "https://other.example/v1", {"api_key": "two"}),
    ("x" * 200, "https://llm.example", {}),
]


def make(apps) -> None:
    groups = apps.get_model("accounts", "Group").objects
    channels = apps.get_model("catalog", "GroupChannel").objects
    apps.get_model("catalog", "Channel").objects.create(name="text-1", adapter="openai_images", base_url="https://a.b")
    for name, base_url, secret in SECRETS:
        group, _ = groups.get_or_create(name=name, defaults={"platform": "anthropic"})
        origin = "https://" + base_url.split("/")[2]
        fields = {"origin": origin, "ciphertext": sealing.seal(secret, origin), "last4": "last" if secret else ""}
        channels.create(group=group, base_url=base_url, priority=7, dialects=["chat"], **fields)


def test_a_groups_channel_becomes_a_channel_with_its_credential(before):
    make(before)
    stored = list(before.get_model("catalog", "GroupChannel").objects.order_by("id").values_list("ciphertext"))
    migrate_again()
    links = list(GroupChannel.objects.order_by("id").select_related("channel"))
    assert [(link.channel.name, link.channel.adapter, link.channel.base_url) for link in links] == [
        ("text-2", "anthropic_relay", "https://llm.example/v1"),
        ("text-3", "anthropic_relay", "https://other.example/v1"),
        ("x" * 198 + "-1", "anthropic_relay", "https://llm.example"),
    ]
    assert {(link.priority, link.weight, link.enabled, *link.dialects) for link in links} == {(7, 1, True, "chat")}
    kept = [credentials.of_channel(link.channel_id) for link in links]
    assert [[(row.ciphertext, row.origin, row.last4) for row in rows] for rows in kept] == [
        [(*stored[0], "https://llm.example", "last")],
        [(*stored[1], "https://other.example", "last")],
        [],
    ]


def test_going_back_brings_address_and_secret_back(before):
    make(before)
    migrate_again()
    moved = GroupChannel.objects.order_by("id")[0].channel
    credentials.store(moved, {"api_key": "newer"})
    rows = migrate(BEFORE).get_model("catalog", "GroupChannel").objects.order_by("id")
    assert [(row.base_url, row.priority, credentials.readable(row.ciphertext)) for row in rows] == [
        ("https://llm.example/v1", 7, {"api_key": "newer"}),
        ("https://other.example/v1", 7, {"api_key": "two"}),
        ("https://llm.example", 7, {}),
    ]
    assert [row.origin for row in rows] == ["https://llm.example", "https://other.example", "https://llm.example"]
    assert list(Channel.objects.values_list("name", flat=True)) == ["text-1"]
