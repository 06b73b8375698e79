"""PostgreSQL: no foreign keys to rows that nothing ever deletes."""

from django.db import migrations

from common.postgresql.migrations import unchecked


class Migration(migrations.Migration):

    dependencies = [
        ("callbacks", "0006_lean_on_postgresql"),
    ]

    operations = [
        unchecked("callbacks_delivery_account_id_1fe0773c_fk_accounts_account_id", "callbacks_delivery", "account_id", "accounts_account"),
        unchecked("callbacks_delivery_task_id_6b8e2014_fk_tasks_task_id", "callbacks_delivery", "task_id", "tasks_task"),
        unchecked("callbacks_deliveryat_delivery_id_03cc5cb4_fk_callbacks", "callbacks_deliveryattempt", "delivery_id", "callbacks_delivery"),
    ]
