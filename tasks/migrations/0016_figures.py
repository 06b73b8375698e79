"""Sums over ended tasks, by minute and by day."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0015_lean_on_postgresql"),
    ]

    operations = [
        migrations.CreateModel(
            name="FigureCursor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("last_event_id", models.BigIntegerField()),
                ("minutes_since", models.DateField()),
            ],
        ),
        migrations.CreateModel(
            name="DayFigure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model_name", models.CharField(max_length=200)),
                ("modality", models.CharField(max_length=10)),
                ("channel_id", models.BigIntegerField()),
                ("outcome", models.CharField(max_length=10)),
                ("bucket", models.SmallIntegerField()),
                ("tasks", models.BigIntegerField()),
                ("earned_micros", models.BigIntegerField()),
                ("cost_micros", models.BigIntegerField()),
                ("waited_ms", models.BigIntegerField(help_text="From submission to the first start, or to the end without one.")),
                ("at", models.DateField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("at", "model_name", "modality", "channel_id", "outcome", "bucket"), name="day_figure_once")],
            },
        ),
        migrations.CreateModel(
            name="MinuteFigure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model_name", models.CharField(max_length=200)),
                ("modality", models.CharField(max_length=10)),
                ("channel_id", models.BigIntegerField()),
                ("outcome", models.CharField(max_length=10)),
                ("bucket", models.SmallIntegerField()),
                ("tasks", models.BigIntegerField()),
                ("earned_micros", models.BigIntegerField()),
                ("cost_micros", models.BigIntegerField()),
                ("waited_ms", models.BigIntegerField(help_text="From submission to the first start, or to the end without one.")),
                ("at", models.DateTimeField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("at", "model_name", "modality", "channel_id", "outcome", "bucket"), name="minute_figure_once")],
            },
        ),
    ]
