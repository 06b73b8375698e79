"""Tiles of the gallery by day; each has its shape before its file loads."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from console.gallery.finding import Work
from pages import words
from tasks.shown import exhibits
from tasks.shown.exhibits import Exhibit

LONGEST_ALT = 120
EAGER = 6
# Width by height in tenths; the stylesheet has a class for each.
SHAPES = (5, 6, 8, 10, 12, 15, 18, 23, 30)
SQUARE, WIDE = 10, 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """Tile of one file. `name` is unique on the page, `shape` is one of SHAPES; `is_eager` loads it at once."""

    name: str
    task_id: str
    position: int
    file: Exhibit
    alt: str
    shape: int
    is_eager: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Task with its tiles."""

    work: Work
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """Tasks of one UTC day with the day's title."""

    title: str
    day: date
    pieces: tuple[Piece, ...]


def days(works: Iterable[Work], now: datetime) -> list[Day]:
    """Group works by day, in their order; skip works without files."""
    pieces = list(_pieces(works))
    return [
        Day(title=day_in_words(day, now.astimezone(UTC).date()), day=day, pieces=tuple(of_day))
        for day, of_day in groupby(pieces, key=lambda piece: piece.work.created_at.astimezone(UTC).date())
    ]


def day_in_words(day: date, today: date) -> str:
    """Name a day: Today, Yesterday, 21 November, 31 December 2025."""
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    return f"{day.day} {day:%B}" + (f" {day.year}" if day.year != today.year else "")


def _pieces(works: Iterable[Work]) -> Iterator[Piece]:
    count = 0
    for work in works:
        tiles = tuple(_tile(work, file, is_eager=count + n < EAGER) for n, file in enumerate(_shown(work)))
        count += len(tiles)
        if tiles:
            yield Piece(work=work, tiles=tiles)


def _shown(work: Work) -> list[Exhibit]:
    return [file for file in exhibits.exhibits(work.files) if file.url]


def _tile(work: Work, file: Exhibit, *, is_eager: bool) -> Tile:
    return Tile(
        name=f"{work.task_id}-{file.number}",
        task_id=work.task_id,
        position=file.number - 1,
        file=file,
        alt=alt(work.prompt, work.model_name, file),
        shape=shape(file),
        is_eager=is_eager,
    )


def alt(prompt: str, model_name: str, file: Exhibit) -> str:
    """Build the alternative text of a file: the beginning of its prompt, on one line."""
    said = " ".join(prompt.split())
    short = f"{said[:LONGEST_ALT]}…" if len(said) > LONGEST_ALT else said
    length = f" of {words.span(file.seconds)}" if file.seconds is not None else ""
    return f"{file.shown_as.capitalize()}{length}: {short or f'by {model_name}'}"


def shape(file: Exhibit) -> int:
    """Choose the nearest of SHAPES; a video of unknown size counts as wide."""
    if not (file.width and file.height):
        return WIDE if file.shown_as == "film" else SQUARE
    ratio = 10 * file.width / file.height
    return min(SHAPES, key=lambda each: max(each / ratio, ratio / each))
