"""Writes what documents say of facts that the code declares once: error types, settings.

Run by `make docs`; a test keeps the files as they would be written. Text between the marks of a page is replaced.
"""

import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

from common import error_types
from config import declared
from config.declared import Setting

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / ".env.example"
EXAMPLE_HEAD = """\
# Every setting of Darkroom. Copy what you need into .env, or set it in the environment, which wins over .env.
# `make run` and `make demo` write a .env with random secrets if there is none. A commented line shows the default.
# Written by `make docs` from config/declared.py: do not edit it."""
REQUIRED = "required"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return "\n".join((first, "|" + "---|" * len(head), *others))


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


def settings() -> str:
    """Every setting, its default and meaning."""
    rows = ((f"`{each.name}`", shown(each.default) or each.shown, each.meaning) for each in declared.TABLE)
    return table(("setting", "default", "meaning"), rows)


def shown(default: str) -> str:
    """A default as a cell: numbers plain, words as code."""
    return default if not default or default.isdigit() else f"`{default}`"


def example() -> str:
    """The text of `.env.example`."""
    lines = [EXAMPLE_HEAD]
    for each in declared.TABLE:
        if each.begins_group:
            lines.append("")
        lines += textwrap.wrap(explained(each), width=115, initial_indent="# ", subsequent_indent="# ")
        lines.append(f"{'' if each.shown == REQUIRED else '#'}{each.name}={each.default}")
    return "\n".join(lines) + "\n"


def explained(setting: Setting) -> str:
    """A setting in plain text."""
    if setting.shown == REQUIRED:
        words = f"Required: {setting.meaning}."
    else:
        words = f"{setting.meaning[:1].upper()}{setting.meaning[1:]}."
    if setting.shown not in ("", REQUIRED):
        words += f" Default: {setting.shown}"
    return words.replace("`", "")


BLOCKS: dict[str, dict[str, Callable[[], str]]] = {
    "docs/interface.md": {"error types of requests": refusals, "error types of tasks": failures},
    "docs/operations.md": {"settings": settings},
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
    return made | {EXAMPLE: example()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")
