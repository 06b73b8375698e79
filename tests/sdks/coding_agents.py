"""`make sdks`: Claude Code, Codex and Gemini CLI, unmodified, with general keys of groups that have only prices.

Each is asked for one thing, for which it runs one command. No suite collects this file by itself, because it needs the
registry of npm.
"""

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bench import peers
from tests.databases import Databases
from tests.processes import TestStack
from tests.sdks import agents, vendors
from tests.sdks.agents import CODEX, CODEX_OF_OPENAI, Agent
from tests.sdks.vendors import Heard, Vendors

LONGEST_INSTALL = 300
GROUPS = """
version: 1
groups:
  - name: anthropic
    platform: anthropic
    prices: {{"claude-*": {{input: 3, output: 15, cached_input: 0.3, cache_write: 3.75, max_output_tokens: 64000}}}}
    channels: [{{base_url: "{url}", credentials: {{api_key: upstream}}}}]
  - name: openai
    platform: openai
    prices: {{"gpt-*": {{input: 1.25, output: 10, cached_input: 0.125, max_output_tokens: 128000}}}}
    channels: [{{base_url: "{url}/v1", credentials: {{api_key: upstream}}}}]
  - name: gemini
    platform: gemini
    prices: {{"gemini-*": {{input: 2, output: 12, cached_input: 0.2, max_output_tokens: 65536}}}}
    channels: [{{base_url: "{url}", credentials: {{api_key: upstream}}}}]
"""
MAKE_KEYS = """
import json
from django.core.management import call_command
for account, credit in (("rich", "1000"), ("poor", "0.01")):
    call_command("create_account", account, credit=credit)
    for group in ("anthropic", "openai", "gemini"):
        for_group = ("--name", f"{account}-{group}", "--binding", "general", "--group", group)
        call_command("create_key", account, *for_group, "--json")
"""
LAST_CALLS = """
import json
from billing.models import RelayedCall
fields = ("key__name", "model", "state", "estimated_micros", "actual_micros", "is_estimated")
print(json.dumps(list(RelayedCall.objects.order_by("id").values(*fields))))
"""
ANSWER = "The command has run, and all is well."
NAMES = [agent.program for agent in agents.ALL]
# Codex asks five times more with a key that is refused, whatever the answer says; Claude Code looks twice for a model.
ASKED_WITH_A_WRONG_KEY = {"claude": 1, "codex": 6, "gemini": 1}
ASKED_FOR_AN_UNKNOWN_MODEL = {"claude": 2, "codex": 1, "gemini": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """A web process whose groups have only prices, the vendors behind it, and the agents' programs. Keys are named by
    account and group."""

    stack: TestStack
    vendors: Vendors
    keys: Mapping[str, str]
    programs: Path

    def asks(self, agent: Agent, home: Path, *, account: str = "rich", key: str = "", model: str = "") -> "Asked":
        """Run the agent for one prompt; its shell leaves a file."""
        before = len(self.log(agent))
        heard = self.vendors.asked_for("echo done > proof.txt", ANSWER)
        secret = key or self.keys[f"{account}-{agent.platform}"]
        ended = agent.run(self.programs, home, self.stack.base_url, secret, model=model)
        return Asked(ended=ended, heard=heard, statuses=self.log(agent)[before:], proof=home / "work" / "proof.txt")

    def log(self, agent: Agent, method: str = "POST") -> list[int]:
        """The statuses of what came to the agent's path, in order."""
        lines = [json.loads(line) for line in self.stack.logs().splitlines() if '"darkroom.access"' in line]
        return [line["status"] for line in lines if line["method"] == method and line["path"].startswith(agent.path)]

    def calls(self, key: str) -> list[dict[str, Any]]:
        """The key's calls in the books, in order."""
        lines = self.stack.manage("shell", "-v", "0", "-c", LAST_CALLS).stdout.splitlines()
        return [call for call in json.loads(lines[-1]) if call["key__name"] == key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of it: the agent's end, what the vendors heard, what the service answered, what the shell left."""

    ended: subprocess.CompletedProcess[str]
    heard: Heard
    statuses: list[int]
    proof: Path

    @property
    def said(self) -> str:
        return self.ended.stdout + self.ended.stderr


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of the agents' programs."""
    if missing := [program for program in ("node", "npm") if not shutil.which(program)]:
        pytest.skip(f"coding agents need {' and '.join(missing)}, which is not installed")
    folder = peers.FOLDER / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')
    install = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", *agents.PACKAGES]
    subprocess.run(install, cwd=folder, check=True, timeout=LONGEST_INSTALL)
    return folder / "node_modules" / ".bin"


@pytest.fixture(scope="session")
def market(databases: Databases, tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Iterator[Market]:
    with vendors.opened() as upstream, databases.fresh() as url:
        stack = TestStack(database_url=url, folder=tmp_path_factory.mktemp("agents"))
        try:
            stack.load_catalog(GROUPS.format(url=upstream.url))
            printed = stack.manage("shell", "-v", "0", "-c", MAKE_KEYS).stdout.splitlines()
            made = [json.loads(line) for line in printed if line.startswith("{")]
            stack.start_web()
            keys = {key["name"]: key["key"] for key in made}
            yield Market(stack=stack, vendors=upstream, keys=keys, programs=programs)
        finally:
            stack.stop()


@pytest.mark.parametrize("agent", agents.ALL, ids=NAMES)
def test_an_agent_runs_a_command_and_says_so_and_each_call_is_charged_by_its_usage(market, tmp_path, agent):
    key = f"rich-{agent.platform}"
    before = len(market.calls(key))
    asked = market.asks(agent, tmp_path)
    assert asked.ended.returncode == 0, asked.said
    assert ANSWER in asked.ended.stdout
    assert asked.proof.read_text() == "done\n"
    calls = market.calls(key)[before:]
    assert len(calls) == asked.heard.paid() >= 2
    assert {call["actual_micros"] for call in calls} == {agent.cost_micros}
    assert all(call["estimated_micros"] >= call["actual_micros"] and not call["is_estimated"] for call in calls)
    market.stack.manage("check_ledger")


def test_a_model_of_codex_that_sends_its_tools_as_input_runs_a_command_too(market, tmp_path):
    asked = market.asks(CODEX, tmp_path, model="gpt-6-sol")
    assert asked.ended.returncode == 0, asked.said
    assert "additional_tools" in [item.get("type") for item in asked.heard.requests[0][1]["input"]]
    assert asked.proof.read_text() == "done\n"


@pytest.mark.parametrize("agent", agents.ALL, ids=NAMES)
def test_a_wrong_key_ends_an_agent_at_once(market, tmp_path, agent):
    asked = market.asks(agent, tmp_path, key="dr-gen-wrong")
    assert asked.ended.returncode != 0
    assert asked.statuses == [401] * ASKED_WITH_A_WRONG_KEY[agent.program]
    assert "API key missing or invalid." in asked.said


@pytest.mark.parametrize("agent", agents.ALL, ids=NAMES)
@pytest.mark.parametrize("model", ["unpriced-1", "{}missing"], ids=["without a price", "unknown upstream"])
def test_an_unknown_model_ends_an_agent_at_once(market, tmp_path, agent, model):
    prefix = agent.model.partition("-")[0]
    asked = market.asks(agent, tmp_path, model=model.format(f"{prefix}-"))
    assert asked.ended.returncode != 0
    assert asked.statuses == [404] * ASKED_FOR_AN_UNKNOWN_MODEL[agent.program]


@pytest.mark.parametrize("agent", agents.ALL, ids=NAMES)
def test_too_little_balance_ends_an_agent_at_its_first_request(market, tmp_path, agent):
    asked = market.asks(agent, tmp_path, account="poor")
    assert asked.ended.returncode != 0
    assert asked.statuses == [{"anthropic": 402, "openai": 429, "gemini": 403}[agent.platform]]
    assert asked.heard.requests == []


def test_codex_with_its_own_provider_falls_back_from_a_websocket_at_once(market, tmp_path):
    asked = market.asks(CODEX_OF_OPENAI, tmp_path)
    assert asked.ended.returncode == 0, asked.said
    assert "Reconnecting" not in asked.said
    assert set(market.log(CODEX_OF_OPENAI, "GET")) == {426}  # one, or a second while the first is on its way
    assert asked.proof.read_text() == "done\n"


def test_a_websocket_is_refused_on_the_wire(market):
    head = (
        "GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Authorization: Bearer {market.keys['rich-openai']}\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    address = ("127.0.0.1", int(market.stack.environment["PORT"]))
    with socket.create_connection(address) as connection, connection.makefile("rb") as answer:
        connection.sendall(head.encode())
        status, *headers = iter(lambda: answer.readline().decode().strip(), "")
    assert status == "HTTP/1.1 426 Upgrade Required"
    assert {"upgrade: http/1.1", "connection: upgrade"} <= {line.lower() for line in headers}


def test_the_usage_of_a_key_shows_what_it_was_charged_by(market, tmp_path):
    market.asks(agents.CLAUDE_CODE, tmp_path)
    shown = market.stack.client(market.keys["rich-anthropic"]).get("/v1/usage").json()["by_model"]
    assert [model["model"] for model in shown] == [agents.CLAUDE_CODE.model]
    calls = shown[0]["calls"]
    assert (shown[0]["cached_tokens"], shown[0]["cache_write_tokens"]) == (10 * calls, 20 * calls)
    assert Decimal(str(shown[0]["cost"])) == Decimal(agents.CLAUDE_CODE.cost_micros * calls) / 1_000_000
