"""No sweep looks for tasks that were claimed before any more: their routes stay open."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0007_route_set_ids"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="task", name="task_again"),
    ]
