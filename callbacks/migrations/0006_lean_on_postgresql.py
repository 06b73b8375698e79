"""PostgreSQL: no index that nobody asks, and statistics that keep up with large tables."""

from django.db import migrations

from common.postgresql.migrations import tidied_early, without_pattern_index


class Migration(migrations.Migration):

    dependencies = [
        ("callbacks", "0005_delivery_accounts"),
    ]

    operations = [
        without_pattern_index("callbacks_delivery_id_97824bd0_like", "callbacks_delivery", "id"),
        without_pattern_index("callbacks_delivery_task_id_6b8e2014_like", "callbacks_delivery", "task_id"),
        tidied_early("callbacks_delivery"),
        tidied_early("callbacks_deliveryattempt"),
    ]
