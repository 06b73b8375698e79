from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks", "0002_single_rows")]

    operations = [
        migrations.AddField(
            model_name="call",
            name="passed",
            field=models.JSONField(
                help_text="[route, reason] of each route that was drawn before this one.", null=True
            ),
        ),
    ]
