"""PostgreSQL: no foreign keys to rows that nothing ever deletes."""

from django.db import migrations

from common.postgresql.migrations import unchecked


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0019_deadline_unended"),
    ]

    operations = [
        unchecked("tasks_task_account_id_b76993dd_fk_accounts_account_id", "tasks_task", "account_id", "accounts_account"),
        unchecked("tasks_task_key_id_c63fd918_fk_accounts_apikey_id", "tasks_task", "key_id", "accounts_apikey"),
        unchecked("tasks_task_open_routes_id_e583c83b_fk_tasks_routeset_id", "tasks_task", "open_routes_id", "tasks_routeset"),
        unchecked("tasks_task_route_set_id_799b9d44_fk_tasks_routeset_id", "tasks_task", "route_set_id", "tasks_routeset"),
        unchecked("tasks_task_secret_id_acb77fc6_fk_accounts_keysecret_id", "tasks_task", "secret_id", "accounts_keysecret"),
        unchecked("tasks_task_worker_id_c6da9f59_fk_tasks_worker_id", "tasks_task", "worker_id", "tasks_worker"),
        unchecked("tasks_taskpayload_task_id_5d80a962_fk_tasks_task_id", "tasks_taskpayload", "task_id", "tasks_task"),
        unchecked("tasks_call_task_id_3be00288_fk_tasks_task_id", "tasks_call", "task_id", "tasks_task"),
        unchecked("tasks_call_worker_id_177944c2_fk_tasks_worker_id", "tasks_call", "worker_id", "tasks_worker"),
        unchecked("tasks_asset_task_id_164cbd6f_fk_tasks_task_id", "tasks_asset", "task_id", "tasks_task"),
        unchecked("tasks_taskevent_key_id_40232590_fk_accounts_apikey_id", "tasks_taskevent", "key_id", "accounts_apikey"),
        unchecked("tasks_taskevent_task_id_bfe419b4_fk_tasks_task_id", "tasks_taskevent", "task_id", "tasks_task"),
    ]
