"""PostgreSQL: no foreign keys to rows that nothing ever deletes. The ledger keeps its own, for TRUNCATE follows it."""

from django.db import migrations

from common.postgresql.migrations import unchecked


class Migration(migrations.Migration):

    dependencies = [
        ("billing", "0010_web_processes_name"),
    ]

    operations = [
        unchecked("billing_hold_account_id_56c002f9_fk_accounts_account_id", "billing_hold", "account_id", "accounts_account"),
        unchecked("billing_relayedcall_account_id_a4933fc3_fk_accounts_account_id", "billing_relayedcall", "account_id", "accounts_account"),
        unchecked("billing_relayedcall_key_id_768f5172_fk_accounts_apikey_id", "billing_relayedcall", "key_id", "accounts_apikey"),
        unchecked("billing_relayusage_key_id_9fceeb02_fk_accounts_apikey_id", "billing_relayusage", "key_id", "accounts_apikey"),
    ]
