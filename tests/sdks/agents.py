"""The coding agents that `make sdks` runs: their packages, what they read, and how they are asked for one thing.

Each has a home of its own, so that nothing of the machine's settings or accounts is in it.
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tools.children import PATIENCE

PACKAGES = ("@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.171.0", "@google/gemini-cli@0.61.0")
CODEX_CONFIG = """
model_provider = "darkroom"
web_search = "disabled"
check_for_update_on_startup = false

[model_providers.darkroom]
name = "Darkroom"
base_url = "{url}/v1"
env_key = "DARKROOM_KEY"
wire_api = "responses"
"""
CODEX_OF_OPENAI_CONFIG = """
openai_base_url = "{url}/v1"
web_search = "disabled"
check_for_update_on_startup = false
"""
GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """`path` is what it calls, `model` one that the catalog prices, `cost_micros` that of each of its calls.

    `settings` writes the files that it reads at home, `variables` are those of its environment; both know the address
    and the key. `command` are the words behind the program, for a model and a prompt.
    """

    program: str
    platform: str
    path: str
    model: str
    cost_micros: int
    settings: Callable[[Path, str], None]
    variables: Callable[[str, str], Mapping[str, str]]
    command: Callable[[str, str], tuple[str, ...]]

    def run(
        self, programs: Path, home: Path, url: str, key: str, *, model: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Ask it once, without a terminal, and wait for its end."""
        work = home / "work"
        work.mkdir()
        self.settings(home, url)
        own = {"HOME": str(home), "PATH": os.environ["PATH"], "SHELL": "/bin/sh", "TMPDIR": str(home), "CI": "true"}
        return subprocess.run(
            [str(programs / self.program), *self.command(model or self.model, "Run the command.")],
            cwd=work,
            env={**own, **self.variables(url, key)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


def _nothing(home: Path, url: str) -> None:
    """No file."""


def _codex_config(text: str) -> Callable[[Path, str], None]:
    def write(home: Path, url: str) -> None:
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(text.format(url=url))

    return write


def _gemini_settings(home: Path, url: str) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(GEMINI_SETTINGS))


CLAUDE_CODE = Agent(
    program="claude",
    platform="anthropic",
    path="/v1/messages",
    model="claude-sonnet-5",
    cost_micros=738,  # 70 at 3, 10 at 0.3, 20 at 3.75 and 30 at 15
    settings=_nothing,
    variables=lambda url, key: {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_AUTH_TOKEN": key,
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    },
    command=lambda model, prompt: ("-p", prompt, "--model", model, "--allowedTools", "Bash"),
)
CODEX = Agent(
    program="codex",
    platform="openai",
    path="/v1/responses",
    model="gpt-5.2-codex",
    cost_micros=414,  # 90 at 1.25, 10 at 0.125 and 30 at 10, rounded half up
    settings=_codex_config(CODEX_CONFIG),
    variables=lambda url, key: {"DARKROOM_KEY": key},
    command=lambda model, prompt: (
        *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
        *("--model", model, prompt),
    ),
)
CODEX_OF_OPENAI = replace(
    CODEX,
    settings=_codex_config(CODEX_OF_OPENAI_CONFIG),
    variables=lambda url, key: {"CODEX_API_KEY": key},
)
"""With its built-in provider, which begins with a WebSocket."""
GEMINI_CLI = Agent(
    program="gemini",
    platform="gemini",
    path="/v1beta/models/",
    model="gemini-3.1-pro-preview",
    cost_micros=542,  # 90 at 2, 10 at 0.2 and 30 at 12
    settings=_gemini_settings,
    variables=lambda url, key: {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": key},
    command=lambda model, prompt: ("--yolo", "--model", model, "--prompt", prompt),
)
ALL = (CLAUDE_CODE, CODEX, GEMINI_CLI)
