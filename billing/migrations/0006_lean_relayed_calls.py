"""PostgreSQL: no index that nobody asks, and statistics that keep up with large tables. Apart, because Django makes
the former at the end of the migration that makes their tables."""

from django.db import migrations

from common.postgresql.migrations import tidied_early, without_pattern_index


class Migration(migrations.Migration):

    dependencies = [
        ("billing", "0005_relayed_calls"),
    ]

    operations = [
        without_pattern_index("billing_webprocess_id_6ed96c8b_like", "billing_webprocess", "id"),
        without_pattern_index("billing_relayedcall_id_8df76528_like", "billing_relayedcall", "id"),
        tidied_early("billing_relayedcall"),
        tidied_early("billing_relayusage"),
    ]
