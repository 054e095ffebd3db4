import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0004_materialized_views"),
    ]

    operations = [
        migrations.CreateModel(
            name="Maintainer",
            fields=[
                (
                    "region",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="maintainer",
                        serialize=False,
                        to="catalog.region",
                    ),
                ),
                ("epoch", models.BigIntegerField(default=0)),
                ("lease_owner", models.CharField(blank=True, max_length=200)),
                ("lease_expires", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.AddField(
            model_name="plaintablewrite",
            name="begun_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="plaintablewrite",
            name="state",
            field=models.CharField(
                choices=[("pending", "Pending"), ("done", "Done")], default="done", max_length=16
            ),
        ),
        migrations.AddField(
            model_name="plaintablewrite",
            name="writer",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name="viewprogress",
            name="sqlstate",
            field=models.CharField(blank=True, max_length=5),
        ),
        migrations.AddConstraint(
            model_name="plaintablewrite",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "pending")),
                fields=("item",),
                name="write_pending",
            ),
        ),
    ]
