"""One installation as `make run` starts it, for all programs that call it with an SDK of others."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.databases import Databases
from tests.processes import TestStack
from tests.sdks.places import Place
from tools.children import Child
from tools.stack import CATALOG

# The sandbox makes a film in about a second; the protocol's own pace is for providers that take minutes.
SWIFT = ("/ark/api/v3", "/ark/api/v3\n    options: {poll_seconds: 0.2}")


# General keys: a group of each platform, and two whose only channel is asked for nothing but what makes it fail.
PLATFORMS = {"openai": "/openai/v1", "anthropic": "/anthropic", "gemini": "/gemini"}
GROUP = """
  - name: {name}
    platform: {platform}
    image_generation: true
    channels:
      - base_url: ${{SANDBOX_URL}}{path}
        credentials: {{api_key: sandbox}}
        priority: 10
        upstream_models: {{aurora-text: {platform}-text-1}}
    models: [aurora-text, gpt-image-2]
    prices:
      aurora-text: {{input: 1.25, output: 10, cached_input: 0.125, max_output_tokens: 1000}}
      "*-image": {{input: 2, output: 12, image_output: 120}}
    image_prices: {{gpt-image-2: 0.04}}
"""
GROUPS = {f"{platform}{fate}": platform for platform in PLATFORMS for fate in ("-main", "-busy", "-away")}
OF_THE_EXAMPLE = {"openai": "text", "anthropic": "claude", "gemini": "gemini"}
KEYS = {
    "task": ("--videos",),
    "general": ("--binding", "general"),
    "closed": ("--no-task-api",),
    "full": ("--videos", "--max-queued", "0"),
    **{name: ("--binding", "general", "--group", name) for name in GROUPS},
    **{
        f"{of}{use}": ("--binding", "general", "--group", f"{of}-main")
        for of in PLATFORMS
        for use in ("", "-bill", "-left")
    },
    **{f"{of}-page": ("--binding", "general", "--group", name) for of, name in OF_THE_EXAMPLE.items()},
}
MAKE_KEYS = """
import json
from django.core.management import call_command
call_command("create_account", "tester", credit="100")
for name, arguments in json.loads({keys!r}).items():
    call_command("create_key", "tester", "--name", name, *arguments, "--json")
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of whole processes are slow ones."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.once)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """Web, worker and sandbox with the example catalog and groups, and the secrets of keys by what they are for."""

    stack: TestStack
    sandbox: Child
    keys: Mapping[str, str]

    @property
    def key(self) -> str:
        """Of a Task key, whose account has 100 USD."""
        return self.keys["task"]

    @property
    def base_url(self) -> str:
        """As an SDK of OpenAI's takes it."""
        return f"{self.stack.base_url}/v1"

    @property
    def place(self) -> Place:
        """As the programs of general keys take it."""
        return Place(url=self.stack.base_url, sandbox_url=self.sandbox.url, keys=self.keys)

    @property
    def task_environment(self) -> dict[str, str]:
        """What programs read that make pictures and films with a Task key."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": self.key}

    @property
    def general_environment(self) -> dict[str, str]:
        """What programs read that ask for text, of whatever vendor."""
        url = self.stack.base_url
        return {
            **{"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": self.keys["openai-page"]},
            **{"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": self.keys["anthropic-page"]},
            **{"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": self.keys["gemini-page"]},
        }


def made_keys(stack: TestStack) -> dict[str, str]:
    """All keys, by one command: each command takes as long as Django takes to start."""
    code = MAKE_KEYS.format(keys=json.dumps(KEYS))
    lines = stack.manage("shell", "-v", "0", "-c", code).stdout.splitlines()
    made = [json.loads(line) for line in lines if line.startswith("{")]
    return {key["name"]: key["key"] for key in made}


def catalog() -> str:
    """The example with a quicker film and with more groups."""
    groups = [GROUP.format(name=name, platform=of, path=PLATFORMS[of]) for name, of in GROUPS.items()]
    return CATALOG.read_text(encoding="utf-8").replace(*SWIFT) + "".join(groups)


@pytest.fixture(scope="session")
def shop(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with databases.fresh() as url:
        stack = TestStack(database_url=url, folder=tmp_path_factory.mktemp("sdks"))
        try:
            sandbox = stack.start_sandbox()
            stack.environment["SANDBOX_URL"] = sandbox.url
            stack.load_catalog(catalog())
            keys = made_keys(stack)
            stack.start_web()
            stack.start_worker()
            yield Shop(stack=stack, sandbox=sandbox, keys=keys)
        finally:
            stack.stop()
