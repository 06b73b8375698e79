"""Bills of providers. Whoever may see holds by one of our groups sees them. Django makes permissions only after all
migrations, so those that are not there yet are made here, as it would."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

NAMES = ("viewer", "operator", "finance")
SEEN = {"providerbill": "provider bill", "billline": "bill line"}


def show(apps, schema_editor):
    groups = apps.get_model("auth", "Group").objects
    seen = [permission(apps, model) for model in SEEN]
    for group in groups.filter(name__in=NAMES, permissions__codename="view_hold"):
        group.permissions.add(*seen)


def permission(apps, model):
    kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(app_label="desk", model=model)
    found, _ = apps.get_model("auth", "Permission").objects.get_or_create(
        content_type=kind, codename=f"view_{model}", defaults={"name": f"Can view {SEEN[model]}"}
    )
    return found


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0008_pauses'),
        ('desk', '0005_refunds_and_bills'),
        ('tasks', '0016_figures'),
    ]

    operations = [
        migrations.CreateModel(
            name='ProviderBill',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel_name', models.CharField(max_length=200)),
                ('file_name', models.CharField(max_length=200)),
                ('sha256', models.CharField(max_length=64)),
                ('source', models.BinaryField()),
                ('columns', models.JSONField(null=True)),
                ('since', models.DateField(help_text='The first day of the bill (UTC).', null=True)),
                ('until', models.DateField(help_text='Its last day.', null=True)),
                ('bad_rows', models.JSONField(default=list, help_text='[line, why] of the first rows that are no lines of a bill.')),
                ('bad_count', models.PositiveIntegerField(default=0)),
                ('sums', models.JSONField(null=True)),
                ('begun', models.PositiveIntegerField(default=0)),
                ('run', models.PositiveIntegerField(default=0)),
                ('compared_at', models.DateTimeField(null=True)),
                ('imported_by', models.CharField(max_length=150)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('channel', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='catalog.channel')),
            ],
        ),
        migrations.CreateModel(
            name='BillLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.PositiveIntegerField()),
                ('number', models.PositiveIntegerField(null=True)),
                ('verdict', models.CharField(max_length=20)),
                ('upstream_id', models.CharField(max_length=200)),
                ('amount_micros', models.BigIntegerField(null=True)),
                ('billed_at', models.DateTimeField(null=True)),
                ('model', models.CharField(default='', max_length=200)),
                ('own_micros', models.BigIntegerField(null=True)),
                ('settled', models.CharField(default='', help_text='What an operator made of it.', max_length=20)),
                ('settled_by', models.CharField(default='', max_length=150)),
                ('call', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tasks.call')),
                ('bill', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='desk.providerbill')),
            ],
        ),
        migrations.CreateModel(
            name='RememberedColumns',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('columns', models.JSONField()),
                ('channel', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.channel')),
            ],
        ),
        migrations.AddConstraint(
            model_name='providerbill',
            constraint=models.UniqueConstraint(fields=('channel', 'sha256'), name='bill_once'),
        ),
        migrations.AddIndex(
            model_name='billline',
            index=models.Index(fields=['bill', 'run', 'verdict', 'id'], name='bill_lines_by_verdict'),
        ),
        migrations.AddConstraint(
            model_name='billline',
            constraint=models.UniqueConstraint(fields=('bill', 'run', 'number'), name='bill_line_once'),
        ),
        migrations.RunPython(show, migrations.RunPython.noop),
    ]
