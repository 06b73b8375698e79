"""Writes the parts of documents that follow from facts declared in code: error types, settings.

Run by `make docs`; a test keeps the files up to date. Only text between a page's markers is replaced.
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
    """Formats a Markdown table."""
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return "\n".join((first, "|" + "---|" * len(head), *others))


def refusals() -> str:
    """Lists the error types of refused requests."""
    rows = ((f"`{each.name}`", ", ".join(map(str, each.statuses)), phrase(each.when)) for each in error_types.REFUSALS)
    return table(("type", "status", "when"), rows)


def failures() -> str:
    """Lists the error types of failed tasks."""
    rows = ((f"`{each.name}`", each.of_task) for each in error_types.FAILURES)
    return table(("`error.type`", "what happened"), rows)


def phrase(sentence: str) -> str:
    """Formats a sentence as a table cell: no capital, no full stop."""
    return (sentence[:1].lower() + sentence[1:]).removesuffix(".")


def settings() -> str:
    """Lists every setting with its default and meaning."""
    rows = ((f"`{each.name}`", shown(each.default) or each.shown, each.meaning) for each in declared.TABLE)
    return table(("setting", "default", "meaning"), rows)


def shown(default: str) -> str:
    """Formats a default as a cell: numbers plain, words as code."""
    return default if not default or default.isdigit() else f"`{default}`"


def example() -> str:
    """Returns the text of `.env.example`."""
    lines = [EXAMPLE_HEAD]
    for each in declared.TABLE:
        if each.begins_group:
            lines.append("")
        lines += textwrap.wrap(explained(each), width=115, initial_indent="# ", subsequent_indent="# ")
        lines.append(f"{'' if each.shown == REQUIRED else '#'}{each.name}={each.default}")
    return "\n".join(lines) + "\n"


def explained(setting: Setting) -> str:
    """Describes a setting in plain text."""
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
    """Replaces the text between the page's markers. Raises ValueError if a marker is missing."""
    for name, make in blocks.items():
        begin, end = f"<!-- {name}, by make docs -->\n", f"\n<!-- end of {name} -->"
        if (count := text.count(begin)) != 1 or text.count(end) != 1:
            raise ValueError(f"the markers of {name!r} occur {count} times")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{make()}\n{end}{rest.partition(end)[2]}"
    return text


def pages() -> dict[Path, str]:
    """Returns every generated file with its text."""
    made = {ROOT / page: filled((ROOT / page).read_text(encoding="utf-8"), found) for page, found in BLOCKS.items()}
    return made | {EXAMPLE: example()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")
