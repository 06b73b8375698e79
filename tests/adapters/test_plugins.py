"""Adapters of installed packages."""

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from adapters.plugins import GROUP, load
from adapters.template.adapter import HttpTemplate
from tools.children import PATIENCE

GOOD = """
from adapters.openai.images import OpenAIImages

class Paint(OpenAIImages):
    protocol = "paint"
    modalities = frozenset({"3d"})

class Unfinished:
    protocol = "unfinished"
    modalities = frozenset({"image"})

ready = Paint()
"""


def install(folder: Path, entries: str) -> None:
    """A distribution as an installer leaves it."""
    (folder / "paint_adapter.py").write_text(GOOD)
    information = folder / "paint_adapter-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: paint-adapter\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[{GROUP}]\n{entries}\n")


def seen(folder: Path) -> tuple[str, str]:
    """What a fresh process has registered and skipped, and what it warned of."""
    program = "from adapters import registry as r; print(sorted(r.INSTALLED), sorted(r.SKIPPED), r.runs('3d'))"
    environment = {"PYTHONPATH": f"{folder}{os.pathsep}{Path(__file__).parents[2]}", "PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE)
    return done.stdout.strip(), done.stderr


def test_an_installed_adapter_is_registered_and_a_broken_one_skipped(tmp_path: Path) -> None:
    install(
        tmp_path,
        "paint = paint_adapter:Paint\nunfinished = paint_adapter:Unfinished\nopenai_images = paint_adapter:ready",
    )
    told, warned = seen(tmp_path)
    assert told == "['paint'] ['openai_images', 'unfinished'] True"
    assert "the adapter unfinished of an installed package was skipped" in warned
    assert "registered already" in warned


def test_what_is_no_adapter_is_skipped_with_a_reason() -> None:
    for value, reason in [
        ("no_such_module:X", "ModuleNotFoundError"),
        ("adapters.template.adapter:NoSuchName", "AttributeError"),
        ("adapters.base:Target", "TypeError"),
        ("adapters.registry:ADAPTERS", "it lacks protocol"),
        ("adapters.template.adapter:HttpTemplate", "not what its entry point is named"),
    ]:
        loaded = load((), [EntryPoint(name="paint", value=value, group=GROUP)])
        assert not loaded.adapters, (value, reason)
        assert reason in loaded.skipped["paint"], (value, reason)


def test_the_fields_of_an_adapter_are_a_function_of_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(name="http_template", value="adapters.template.adapter:HttpTemplate", group=GROUP)
    monkeypatch.setattr(HttpTemplate, "fields", ["seed"])
    assert "its fields" in load((), [point]).skipped["http_template"]


def test_what_an_adapter_expresses_are_names_of_fields_by_modality(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(name="http_template", value="adapters.template.adapter:HttpTemplate", group=GROUP)
    for expressed in (None, ["prompt"], {"image": None}, {"image": "prompt"}, {"image": [["prompt"]]}):
        monkeypatch.setattr(HttpTemplate, "expresses", expressed)
        assert "what it expresses" in load((), [point]).skipped["http_template"], expressed
    for expressed in ({}, {"image": ["prompt"]}, {"image": frozenset({"later"})}):
        monkeypatch.setattr(HttpTemplate, "expresses", expressed)
        assert load((), [point]).adapters, expressed


def test_a_protocol_is_registered_once() -> None:
    point = EntryPoint(name="http_template", value="adapters.template.adapter:HttpTemplate", group=GROUP)
    loaded = load((), [point, point])
    assert isinstance(loaded.adapters["http_template"], HttpTemplate)
    assert "registered already" in loaded.skipped["http_template"]
    assert load(["http_template"], [point]).adapters == {}
