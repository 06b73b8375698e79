"""Tries to sign in, bills of providers, permissions, and the groups `viewer`, `operator` and `finance` of users.

A group of such a name that exists already is left alone. Django makes permissions only after all migrations, so those
that are missing are made here, as it would.
"""

from django.db import migrations, models
from django.db.models.functions import Now


SEEN = {
    "accounts": ["account", "apikey", "group"],
    "admin": ["logentry"],
    "billing": ["hold", "ledgerentry", "relayedcall", "relayusage", "webprocess"],
    "callbacks": ["delivery", "deliveryattempt"],
    "catalog": [
        "mediamodel",
        "channel",
        "credential",
        "channelmodel",
        "plan",
        "route",
        "planchoice",
        "groupoffer",
        "groupchannel",
    ],
    "desk": ["providerbill", "billline"],
    "tasks": ["task", "taskevent", "call", "asset", "worker", "servicestate"],
}
CATALOG = ["mediamodel", "channel", "channelmodel", "plan", "route", "planchoice", "groupoffer", "groupchannel"]
RIGHTS = {
    "book_money": "Can book credits and debits",
    "issue_keys": "Can issue API keys and enable disabled ones",
    "rotate_keys": "Can rotate API keys",
    "change_credentials": "Can enter, switch and remove providers' credentials",
    "refund_tasks": "Can refund charged tasks",
    "import_bills": "Can import providers' bills",
}
VIEWER = [(app, model, f"view_{model}") for app, models in SEEN.items() for model in models]
OPERATOR = [
    *VIEWER,
    *(("catalog", model, f"{action}_{model}") for model in CATALOG for action in ("add", "change", "delete")),
    *(("accounts", "group", f"{action}_group") for action in ("add", "change", "delete")),
    ("accounts", "apikey", "change_apikey"),
    ("callbacks", "delivery", "change_delivery"),
    ("tasks", "task", "change_task"),
    ("tasks", "servicestate", "change_servicestate"),
    *(("desk", "right", right) for right in ("issue_keys", "rotate_keys", "change_credentials")),
]
FINANCE = [
    *VIEWER,
    ("accounts", "account", "add_account"),
    ("accounts", "account", "change_account"),
    *(("desk", "right", right) for right in ("book_money", "refund_tasks", "import_bills")),
]
GROUPS = {"viewer": VIEWER, "operator": OPERATOR, "finance": FINANCE}


def create_groups(apps, editor):
    groups = apps.get_model("auth", "Group").objects
    for name, permissions in GROUPS.items():
        group, is_new = groups.get_or_create(name=name)
        if is_new:
            group.permissions.set([permission(apps, *which) for which in permissions])


def permission(apps, app_label, model, codename):
    kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(app_label=app_label, model=model)
    words = apps.get_model(app_label, model)._meta.verbose_name
    name = RIGHTS.get(codename) or f"Can {codename.partition('_')[0]} {words}"
    found, _ = apps.get_model("auth", "Permission").objects.get_or_create(content_type=kind, codename=codename, defaults={"name": name})
    return found


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ("accounts", "0001_initial"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("billing", "0001_initial"),
        ("callbacks", "0001_initial"),
        ("catalog", "0001_initial"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("tasks", "0001_initial"),
    ]
    operations = [
        migrations.CreateModel(
            name="SignInTry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pair", models.CharField(max_length=64)),
                ("locks", models.BooleanField(default=False)),
                ("at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "indexes": [
                    models.Index(fields=["pair", "at"], name="sign_in_tries_of_pair"),
                    models.Index(fields=["at"], name="sign_in_tries_by_age"),
                ]
            },
        ),
        migrations.CreateModel(
            name="Right",
            fields=[("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"))],
            options={
                "permissions": [
                    ("book_money", "Can book credits and debits"),
                    ("issue_keys", "Can issue API keys and enable disabled ones"),
                    ("rotate_keys", "Can rotate API keys"),
                    ("change_credentials", "Can enter, switch and remove providers' credentials"),
                    ("refund_tasks", "Can refund charged tasks"),
                    ("import_bills", "Can import providers' bills"),
                ],
                "managed": False,
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ProviderBill",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("channel_name", models.CharField(max_length=200)),
                ("file_name", models.CharField(max_length=200)),
                ("sha256", models.CharField(max_length=64)),
                ("source", models.BinaryField()),
                ("columns", models.JSONField(null=True)),
                ("since", models.DateField(help_text="The first day of the bill (UTC).", null=True)),
                ("until", models.DateField(help_text="Its last day.", null=True)),
                ("bad_rows", models.JSONField(default=list, help_text="[line, why] of the first rows that are no lines of a bill.")),
                ("bad_count", models.PositiveIntegerField(default=0)),
                ("sums", models.JSONField(null=True)),
                ("begun", models.PositiveIntegerField(default=0)),
                ("run", models.PositiveIntegerField(default=0)),
                ("compared_at", models.DateTimeField(null=True)),
                ("imported_by", models.CharField(max_length=150)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("channel", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to="catalog.channel")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("channel", "sha256"), name="bill_once")]},
        ),
        migrations.CreateModel(
            name="BillLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("run", models.PositiveIntegerField()),
                ("number", models.PositiveIntegerField(null=True)),
                ("verdict", models.CharField(max_length=20)),
                ("upstream_id", models.CharField(max_length=1024)),
                ("amount_micros", models.BigIntegerField(null=True)),
                ("billed_at", models.DateTimeField(null=True)),
                ("model", models.CharField(default="", max_length=200)),
                ("own_micros", models.BigIntegerField(null=True)),
                ("settled", models.CharField(default="", help_text="What an operator made of it.", max_length=20)),
                ("settled_by", models.CharField(default="", max_length=150)),
                ("call", models.ForeignKey(db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="tasks.call")),
                ("bill", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="lines", to="desk.providerbill")),
            ],
            options={
                "indexes": [models.Index(fields=["bill", "run", "verdict", "id"], name="bill_lines_by_verdict")],
                "constraints": [models.UniqueConstraint(fields=("bill", "run", "number"), name="bill_line_once")],
            },
        ),
        migrations.CreateModel(
            name="RememberedColumns",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("columns", models.JSONField()),
                ("channel", models.OneToOneField(on_delete=models.CASCADE, related_name="+", to="catalog.channel")),
            ],
        ),
        migrations.RunPython(create_groups, migrations.RunPython.noop),
    ]
