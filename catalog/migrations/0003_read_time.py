from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0002_region_stamp"),
    ]

    operations = [
        migrations.AddField(
            model_name="region",
            name="read_time",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="feed",
            name="desired",
            field=models.CharField(
                choices=[
                    ("running", "Running"),
                    ("dropped", "Dropped"),
                    ("abandoned", "Abandoned"),
                ],
                db_index=True,
                default="running",
                max_length=16,
            ),
        ),
    ]
