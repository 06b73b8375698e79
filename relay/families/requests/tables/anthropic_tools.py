"""Fields of Anthropic's tools, both those run by the client and those run by the provider (anthropic 2.14).

A tool's input schema and examples may contain anything; so may settings keyed by a tool's name.
"""

from relay.families.requests.known_fields import DialectFields
from relay.families.requests.tables.shared import CACHE_CONTROL, LOCATION

CLIENTS_NAMES = (
    "type name description input_schema allowed_callers defer_loading eager_input_streaming input_examples strict"
    " display_width_px display_height_px display_number enable_zoom max_characters configs"
)
CLIENTS = DialectFields(CLIENTS_NAMES, cache_control=CACHE_CONTROL)

SOURCE = DialectFields("type", tools=DialectFields("type name"))
PROVIDERS = DialectFields(
    CLIENTS_NAMES + " max_uses allowed_domains blocked_domains max_content_tokens use_cache response_inclusion model"
    " max_tokens mcp_server_name",
    cache_control=CACHE_CONTROL,
    caching=CACHE_CONTROL,
    citations=DialectFields("enabled"),
    default_config=DialectFields("enabled defer_loading"),
    tools=DialectFields("name description input_schema"),
    url_sources=DialectFields(client_tool_results=SOURCE, server_tool_results=SOURCE, user_input=SOURCE),
    user_location=LOCATION,
)
