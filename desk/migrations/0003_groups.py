"""The groups `viewer`, `operator` and `finance`, with what each may do.

A group of that name that stands there already is somebody's own, and is left alone; so is what was changed since.
Django makes permissions only after all migrations, so those that are not there yet are made here, as it would.
"""

from django.db import migrations

SEEN = {
    "accounts": ["account", "apikey", "group"],
    "admin": ["logentry"],
    "billing": ["hold", "ledgerentry"],
    "callbacks": ["delivery", "deliveryattempt"],
    "catalog": [
        "mediamodel", "channel", "credential", "channelmodel", "plan", "route", "planchoice", "groupoffer",
        "groupchannel",
    ],
    "tasks": ["task", "taskevent", "call", "asset", "worker", "servicestate"],
}
CATALOG = ["mediamodel", "channel", "channelmodel", "plan", "route", "planchoice", "groupoffer", "groupchannel"]
RIGHTS = {
    "book_money": "Can book credits and debits",
    "issue_keys": "Can issue API keys and enable disabled ones",
    "rotate_keys": "Can rotate API keys",
    "change_credentials": "Can enter, switch and remove providers' credentials",
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
    ("desk", "right", "book_money"),
]
GROUPS = {"viewer": VIEWER, "operator": OPERATOR, "finance": FINANCE}


def create(apps, schema_editor):
    groups = apps.get_model("auth", "Group").objects
    for name, permissions in GROUPS.items():
        group, is_new = groups.get_or_create(name=name)
        if is_new:
            group.permissions.set([permission(apps, *which) for which in permissions])


def permission(apps, app_label, model, codename):
    kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(app_label=app_label, model=model)
    words = apps.get_model(app_label, model)._meta.verbose_name
    name = RIGHTS.get(codename) or f"Can {codename.partition('_')[0]} {words}"
    found, _ = apps.get_model("auth", "Permission").objects.get_or_create(
        content_type=kind, codename=codename, defaults={"name": name}
    )
    return found


class Migration(migrations.Migration):
    dependencies = [
        ("desk", "0002_rights"),
        ("accounts", "0001_initial"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("billing", "0001_initial"),
        ("callbacks", "0002_delivery_attempts"),
        ("catalog", "0001_initial"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("tasks", "0001_initial"),
    ]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
