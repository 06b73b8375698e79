"""What `check_ledger` asks of the figures: they are what the events up to their cursor say."""

from common import sql
from tasks.figures import sums

DAYS = "the figures of a day = its terminal events up to the cursor"
MINUTES = "the minutes of a day = its figures"

OFF = f"""
SELECT day || ' ' || model_name || ' ' || outcome, 'off by ' || sum(tasks) || ' tasks, ' || sum(earned_micros)
    || ' earned, ' || sum(cost_micros) || ' of cost, ' || sum(waited_ms) || ' ms'
FROM ({{parts}}) parts GROUP BY day, model_name, modality, channel_id, outcome, bucket
HAVING {" OR ".join(f"sum({name}) <> 0" for name in sums.ADDED)}
"""
CURSOR = "COALESCE((SELECT last_event_id FROM tasks_figurecursor), 0)"
SINCE = "f.at >= (SELECT minutes_since FROM tasks_figurecursor)"


def rules() -> dict[str, str]:
    """Queries that list breaches, by rule, in the SQL of this database."""
    kept, counted = sql.utc_day("f.at"), sums.of_all_until(CURSOR)
    of_days = _part("tasks_dayfigure", day="CAST(f.at AS text)")
    return {
        DAYS: OFF.format(parts=f"{of_days} UNION ALL {_part(f'({counted})', day='f.at', sign='-')}"),
        MINUTES: OFF.format(
            parts=f"{_part('tasks_minutefigure', day=kept)} WHERE {SINCE} UNION ALL "
            f"{_part('tasks_dayfigure', day='CAST(f.at AS text)', sign='-')} WHERE {SINCE}"
        ),
    }


def _part(source: str, *, day: str, sign: str = "") -> str:
    """A deleted channel is none: the rows of its tasks have forgotten it."""
    added = ", ".join(f"{sign}f.{name} AS {name}" for name in sums.ADDED)
    return (
        f"SELECT {day} AS day, f.model_name, f.modality, COALESCE(c.id, 0) AS channel_id, f.outcome, f.bucket, {added} "
        f"FROM {source} f LEFT JOIN catalog_channel c ON c.id = f.channel_id"
    )
