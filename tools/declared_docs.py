"""Writes what documents say of facts that the code declares once: error types.

Run by `make docs`; a test keeps the files as they would be written. Text between the marks of a page is replaced.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from common import error_types

ROOT = Path(__file__).resolve().parent.parent


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = (head, ("---",) * len(head), *rows)
    return "\n".join(f"| {' | '.join(cells)} |".replace("| --- ", "|---").replace("--- |", "---|") for cells in lines)


def refusals() -> str:
    """The types that requests are refused with."""
    rows = ((f"`{each.name}`", ", ".join(map(str, each.statuses)), phrase(each.when)) for each in error_types.REFUSALS)
    return table(("type", "status", "when"), rows)


def failures() -> str:
    """The types that tasks end with."""
    rows = ((f"`{each.name}`", each.of_task) for each in error_types.FAILURES)
    return table(("`error.type`", "what happened"), rows)


def phrase(sentence: str) -> str:
    """A sentence as a cell of a table: without capital and full stop."""
    return (sentence[:1].lower() + sentence[1:]).removesuffix(".")


BLOCKS: dict[str, dict[str, Callable[[], str]]] = {
    "docs/interface.md": {"error types of requests": refusals, "error types of tasks": failures},
}


def filled(text: str, blocks: dict[str, Callable[[], str]]) -> str:
    """A page with what stands between its marks made anew. Raises ValueError where a mark is missing."""
    for name, make in blocks.items():
        begin, end = f"<!-- {name}, by make docs -->\n", f"\n<!-- end of {name} -->"
        if (count := text.count(begin)) != 1 or text.count(end) != 1:
            raise ValueError(f"the marks of {name!r} are there {count} times")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{make()}\n{end}{rest.partition(end)[2]}"
    return text


def pages() -> dict[Path, str]:
    """Every file that is written, and its text."""
    made = {ROOT / page: filled((ROOT / page).read_text(encoding="utf-8"), found) for page, found in BLOCKS.items()}
    return made


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")
