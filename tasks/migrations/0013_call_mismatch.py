"""A call notes how what the provider reports differs from what was billed."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0012_task_input_bytes"),
    ]

    operations = [
        migrations.AddField(
            model_name="call",
            name="mismatch",
            field=models.TextField(
                db_default="", default="", help_text="How what the provider reports differs from what was billed."
            ),
        ),
        migrations.AddIndex(
            model_name="call",
            index=models.Index(
                condition=models.Q(("mismatch", ""), _negated=True), fields=["id"], name="call_mismatch"
            ),
        ),
    ]
