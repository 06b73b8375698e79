"""Sessions of the console, and the keys that were presented to it."""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    initial = True
    dependencies = [("accounts", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="Session",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.TextField(unique=True)),
                ("created_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("key", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="accounts.apikey")),
                ("secret", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="accounts.keysecret")),
            ],
        ),
        migrations.CreateModel(
            name="PresentedKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.CharField(max_length=64)),
                ("pair", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=Now(), editable=False)),
            ],
            options={
                "indexes": [models.Index(fields=["address", "at"], name="presented_from"), models.Index(fields=["at"], name="presented_at")]
            },
        ),
    ]
