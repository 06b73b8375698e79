"""PostgreSQL: no index that nobody asks, and statistics that keep up with large tables."""

from django.db import migrations

from common.postgresql.migrations import tidied_early, without_pattern_index


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0014_list_by_filters"),
    ]

    operations = [
        without_pattern_index("tasks_task_id_9d65e96a_like", "tasks_task", "id"),
        without_pattern_index("tasks_taskpayload_task_id_5d80a962_like", "tasks_taskpayload", "task_id"),
        tidied_early("tasks_task"),
        tidied_early("tasks_taskpayload"),
        tidied_early("tasks_taskevent"),
        tidied_early("tasks_call"),
        tidied_early("tasks_asset"),
    ]
