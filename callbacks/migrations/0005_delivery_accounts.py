"""Whether anything of an account is due is known from its own index."""

from django.db import migrations, models
from django.db.models import Q

UNCLAIMED = Q(status="pending") & Q(claimed_at__isnull=True)


class Migration(migrations.Migration):

    dependencies = [("callbacks", "0004_delivery_unattempted")]

    operations = [
        migrations.AddIndex(
            "delivery",
            models.Index(name="delivery_accounts", fields=["account", "next_attempt_at"], condition=UNCLAIMED),
        ),
    ]
