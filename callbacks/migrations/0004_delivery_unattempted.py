"""An account's callbacks that were never attempted are counted at each submission that will owe one more."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ("callbacks", "0003_delivery_account"),
    ]

    operations = [
        migrations.AddIndex(
            "delivery",
            models.Index(
                name="delivery_unattempted", fields=["account"], condition=Q(status="pending") & Q(attempts=0)
            ),
        ),
    ]
