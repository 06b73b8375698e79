from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks", "0003_call_passed")]

    operations = [
        migrations.AddField(
            model_name="task",
            name="seconds_left",
            field=models.FloatField(help_text="Of the execution deadline, after earlier attempts.", null=True),
        ),
    ]
