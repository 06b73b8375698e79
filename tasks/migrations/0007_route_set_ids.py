"""Route sets become lists of route ids. What else they held split sets that were the same but for a weight."""

import hashlib
import json

from django.db import migrations, models
from django.db.models import F


def merge(apps, schema_editor):
    RouteSet, Task = apps.get_model("tasks", "RouteSet"), apps.get_model("tasks", "Task")
    same = {}
    for found in RouteSet.objects.order_by("id"):
        same.setdefault(tuple(sorted({row["route"] for row in found.routes})), []).append(found.id)
    for routes, (kept, *others) in same.items():
        if others:
            Task.objects.filter(route_set_id__in=others).update(route_set_id=kept)
            Task.objects.filter(open_routes_id__in=others).update(open_routes_id=kept)
            RouteSet.objects.filter(id__in=others).delete()
        RouteSet.objects.filter(id=kept).update(routes=routes, digest=digest_of(routes))
    # What had left them may only have been busy. One that refused for good is asked once more, and leaves again.
    Task.objects.filter(status="queued").update(open_routes_id=F("route_set_id"))


def split(apps, schema_editor):
    """As far as the older code reads them: what merged stays one, and other routes than these were never read."""
    for found in apps.get_model("tasks", "RouteSet").objects.all():
        found.routes = [{"route": route} for route in found.routes]
        found.digest = digest_of(found.routes)
        found.save()


def digest_of(routes):
    return hashlib.sha256(json.dumps(routes).encode()).hexdigest()


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0006_call_result"),
    ]

    operations = [
        migrations.AlterField(
            model_name="routeset",
            name="routes",
            field=models.JSONField(help_text="Their ids, in ascending order."),
        ),
        migrations.RunPython(merge, split),
    ]
