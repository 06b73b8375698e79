"""Requests of `messages` and of its token counting: what they ask for, and which fields are refused."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from common.strict_json import Trail
from relay.families import fields, refused_fields
from relay.families.base import AskedCall, CallPath, RefusedField
from relay.families.refused_fields import AUDIO_INPUT, COSTS, LONG_CACHE
from relay.families.requests import contents, reading, tools
from relay.families.requests.contents import Contents
from relay.families.requests.tables import anthropic_tools
from relay.families.requests.tables.messages import FIELDS, PRICED_APART
from relay.families.requests.tools import Listed, ProviderTool, is_anthropic_clients
from relay.wire import splicing

ROOTS = ("system", "messages")
QUERY = ("beta",)
COUNTING = "/count_tokens"
MCP_SERVERS = "mcp_servers"
LIMITED = ("web_search", "web_fetch", "advisor")  # tools with `max_uses`
USUAL_REGIONS = ("global", "not_available")
THREAD = "keeps the conversation in the operator's account with the provider: send all of its messages instead"
THREAD_DETAILS = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
# Values of `anthropic-beta` that change the cost or keep something in the operator's account: longer contexts and
# answers, files, containers, other servers and models, threads, memories, bills. All others only open fields.
CLOSED_BETAS = re.compile(
    r"\s*(?:context-\d+[mk]|output-\d+[mk]|files-api|code-execution|skills|mcp-client|mcp-servers|mcp-tunnels"
    r"|message-threads|fast-mode|server-side-fallback|fallback-credit|managed-agents|agent-memory|dreaming|message-batches"
    r"|user-profiles|environments|efs|webhooks)(?:-|$)",
    re.IGNORECASE,
)
# Clients that send every beta they know, and go on without those that are missing.
AGENT_BETA = "claude-code-"
BETA_REASON = "may cost more than the prices of this model cover, or keep something in the operator's account"
ANTHROPIC_BETA = "anthropic-beta"


def read(document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
    """Reads the call. Raises InvalidRequest."""
    if fields.query(path.query, QUERY).get("beta") not in (None, "true"):
        raise fields.refusal("beta", "must be true")
    held = contents.find_contents(document, ROOTS)
    unknown = [*FIELDS.unknown(document), *_unknown_of_tools(document, held)]
    is_free = path.path.endswith(COUNTING)
    run = list(_providers(document, held))
    return reading.build_call(
        document,
        raw,
        held,
        passes=2 if _is_compacted(document) else 1,
        model=fields.model(document),
        is_stream=not is_free and fields.flag(document, "stream"),
        amounts=reading.amounts(_amounts(document, held)),
        tools=tools.limits(run),
        tool_types=tools.types(run),
        sent_tool_limits=[] if is_free else list(_unlimited(run)),
        output_limit=fields.count(document, "max_tokens", least=0),  # 0 only fills a cache
        is_free=is_free,
        refused=[*_refused(document, path, held), *unknown],
    )


def _refused(document: Mapping[str, Any], path: CallPath, held: Contents) -> list[RefusedField]:
    """Returns the fields that pass only where opened."""
    return [
        *_thread(document),
        *refused_fields.find_set(document, PRICED_APART, COSTS),
        *refused_fields.beyond(document, "service_tier", refused_fields.TIERS),
        *refused_fields.beyond(document, "speed", ("standard",)),
        *refused_fields.beyond(document, "inference_geo", USUAL_REGIONS),
        *(_refusal(tool) for tool in _providers(document, held)),
        *_amounts(document, held),
        *refused_fields.refuse_foreign(held.stored),
        *_betas(path.betas),
    ]


def with_limit(raw: bytes, limit: int) -> bytes:
    """Adds an output limit to a body without one."""
    return splicing.with_member(raw, (), "max_tokens", str(limit).encode())


def is_closed(beta: str) -> bool:
    """Tells whether a value of `anthropic-beta` passes only where the operator has opened it."""
    return CLOSED_BETAS.match(beta) is not None


def _betas(betas: Sequence[str]) -> Iterator[RefusedField]:
    """Refuses closed betas, except an agent's, which are left out of the upstream request instead."""
    if not any(beta.startswith(AGENT_BETA) for beta in betas):
        for beta in filter(is_closed, betas):
            yield RefusedField(name=ANTHROPIC_BETA, path=ANTHROPIC_BETA, reason=f"{beta} {BETA_REASON}", beta=beta)


def _thread(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    if refused_fields.is_set(document.get("thread")):
        yield RefusedField(name="thread", path="thread", reason=THREAD, details=THREAD_DETAILS)


def _tools(document: Mapping[str, Any], held: Contents) -> Iterator[Listed]:
    """Returns the tools of the request and those within the conversation."""
    yield from tools.list_tools(document.get("tools"))
    yield from held.definitions


def _unknown_of_tools(document: Mapping[str, Any], held: Contents) -> list[RefusedField]:
    listed = _tools(document, held)
    return tools.find_unknown(listed, is_anthropic_clients, anthropic_tools.CLIENTS, anthropic_tools.PROVIDERS)


def _providers(document: Mapping[str, Any], held: Contents) -> Iterator[ProviderTool]:
    yield from tools.find_provider_tools(_tools(document, held), is_anthropic_clients)
    if refused_fields.is_set(document.get(MCP_SERVERS)):
        yield ProviderTool(kind="mcp", trail=(MCP_SERVERS,))


def _unlimited(run: Iterable[ProviderTool]) -> Iterator[Trail]:
    """Returns the limit fields that are missing."""
    for tool in run:
        if tool.limit is None and tool.name in LIMITED:
            yield (*tool.trail, "max_uses")


def _refusal(tool: ProviderTool) -> RefusedField:
    return tool.refusal(MCP_SERVERS if tool.trail == (MCP_SERVERS,) else "tools")


def _amounts(document: Mapping[str, Any], held: Contents) -> Iterator[RefusedField]:
    own = contents.long_caches(document, _tools(document, held))
    yield from refused_fields.refuse_unpriced(held.sounds, AUDIO_INPUT)
    yield from refused_fields.refuse_unpriced([*own, *held.long_caches], LONG_CACHE)


def _is_compacted(document: Mapping[str, Any]) -> bool:
    """Tells whether the provider may read the whole input again to write a summary."""
    edits = fields.mappings(fields.mapping(document.get("context_management")).get("edits"))
    return document.get("compaction") is not None or any("compact" in str(edit.get("type")) for edit in edits)
