"""Jobs of a bill may have ids as long as those that adapters keep."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('desk', '0006_bills'),
    ]

    operations = [
        migrations.AlterField(
            model_name='billline',
            name='upstream_id',
            field=models.CharField(max_length=1024),
        ),
    ]
