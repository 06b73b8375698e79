"""PostgreSQL: no index that nobody asks, and statistics that keep up with large tables."""

from django.db import migrations

from common.postgresql.migrations import tidied_early, without_pattern_index


class Migration(migrations.Migration):

    dependencies = [
        ("billing", "0003_guards_and_seals"),
    ]

    operations = [
        without_pattern_index("billing_hold_reference_efde3da1_like", "billing_hold", "reference"),
        tidied_early("billing_hold"),
        tidied_early("billing_ledgerentry"),
    ]
