"""Chart of a month: one column per day, as high as its charges."""

from calendar import month_abbr, monthrange

from common.months import Month
from console.usage.spending import MonthSpend, Spend
from pages import charts, words
from pages.charts import Chart, ChartColumn


def draw(spend: MonthSpend) -> Chart:
    """Draw the chart of a month."""
    by_day = {day.name: day for day in spend.days}
    dearest = max(spend.days, key=lambda day: day.charged_micros, default=None)
    return charts.stacked(
        "spend",
        [_column(name, by_day.get(name)) for name in _days(spend.month)],
        title=f"Charges per day of {spend.month.label}",
        description=f"At most {words.cents(dearest.charged_micros)}, on {dearest.name}." if dearest else "None.",
        height=120,
    )


def labels(month: Month) -> list[str]:
    """List the labels below the chart: the first day, one in the middle, and the last."""
    last = monthrange(month.year, month.number)[1]
    return [f"{day} {month_abbr[month.number]}" for day in (1, (last + 1) // 2, last)]


def _days(month: Month) -> list[str]:
    return [f"{month}-{day:02d}" for day in range(1, monthrange(month.year, month.number)[1] + 1)]


def _column(name: str, day: Spend | None) -> ChartColumn:
    if day is None:
        return ChartColumn(label=name, parts={})
    told = f"{name}: {words.cents(day.charged_micros)} for {words.counted(day.charges, 'charge')}"
    return ChartColumn(label=name, parts={"spend": day.charged_micros}, title=told)
