"""The operator's documents name every command with its options, and no other."""

import re
from argparse import ArgumentParser

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from tools.stack import ROOT

TEXT = "\n".join(path.read_text() for path in (*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"))
COMMANDS = {name: app for name, app in get_commands().items() if app in ("desk", "worker")}
CALLED = re.compile(r"(?:`|manage\.py )([a-z_]+)((?: [^`\n]*)?)")


def options(parser: ArgumentParser) -> set[str]:
    return {option for action in parser._actions for option in action.option_strings if option.startswith("--")}


USUAL = options(BaseCommand().create_parser("manage.py", "any")) | {"--json"}


def parser(name: str) -> ArgumentParser:
    return load_command_class(COMMANDS[name], name).create_parser("manage.py", name)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_documented_with_every_option_that_it_has_and_no_other(name):
    calls = [given for called, given in CALLED.findall(TEXT) if called == name]
    assert calls
    named = {option for call in calls for option in re.findall(r"--[a-z][a-z-]*", call)}
    has = options(parser(name))
    assert named <= has
    assert {option for option in has - USUAL if not re.search(rf"{option}\b", TEXT)} == set()


def test_every_command_that_a_document_runs_exists():
    assert set(re.findall(r"manage\.py ([a-z_]+)", TEXT)) <= get_commands().keys() | {"version"}
