"""What was paid for nothing is found without reading all calls: such calls are few."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks', '0016_figures'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='call',
            index=models.Index(condition=models.Q(('state', 'lost')), fields=['id'], name='call_lost'),
        ),
    ]
