"""Fields of the tools in OpenAI's two dialects, both those run by the client and those run by the provider.

Sources: openai 3.57 (`types/responses`, `types/chat`), and what Codex sends. Members of a namespace and argument
schemas may contain anything here.
"""

from relay.families.requests.known_fields import DialectFields
from relay.families.requests.tables.shared import CACHE_CONTROL, LOCATION

FORMAT = DialectFields("type syntax definition", grammar=DialectFields("syntax definition"))
FUNCTION = DialectFields(
    "name description parameters strict defer_loading allowed_callers input_examples output_schema async",
    cache_control=CACHE_CONTROL,
)
CUSTOM = DialectFields("name description", format=FORMAT, cache_control=CACHE_CONTROL)
SKILLS = DialectFields("type name description path skill_id version", source=DialectFields("type media_type data"))
CLIENTS_NAMES = (
    "type name description parameters strict tools execution allowed_callers defer_loading output_schema async"
    " display_width display_height max_output_length"
)
CLIENTS = DialectFields(
    CLIENTS_NAMES,
    function=FUNCTION,
    custom=CUSTOM,
    environment=DialectFields("type", skills=DialectFields("name description path")),
    format=FORMAT,
    cache_control=CACHE_CONTROL,
)

CONDITION = DialectFields("type key value allowed_domains blocked_domains")
CONDITION.hold(filters=CONDITION)
NETWORK = DialectFields("type allowed_domains", domain_secrets=DialectFields("domain name value"))
NAMED = DialectFields("read_only tool_names")
PROVIDERS = DialectFields(
    CLIENTS_NAMES
    # Searches, in the web and in files.
    + " search_context_size search_content_types external_web_access index_gated_web_access indexed_web_access"
    " max_uses max_num_results"
    " vector_store_ids"
    # Pictures.
    " model action size quality background output_format output_compression moderation input_fidelity partial_images"
    " complexity frame_count frame_duration_ms"
    # Other servers.
    " server_label server_url server_description connector_id authorization headers tunnel_id"
    # Fields that other providers of the chat dialect put in an object named after the tool.
    " web_search retrieval mcp code_interpreter",
    function=FUNCTION,
    custom=CUSTOM,
    format=FORMAT,
    cache_control=CACHE_CONTROL,
    allowed_tools=NAMED,
    require_approval=DialectFields(always=NAMED, never=NAMED),
    container=DialectFields("type file_ids memory_limit", network_policy=NETWORK),
    environment=DialectFields("type container_id file_ids memory_limit", network_policy=NETWORK, skills=SKILLS),
    filters=CONDITION,
    ranking_options=DialectFields(
        "ranker score_threshold", hybrid_search=DialectFields("embedding_weight text_weight")
    ),
    input_image_mask=DialectFields("file_id image_url"),
    svg=DialectFields("model", reasoning=DialectFields("effort")),
    user_location=LOCATION,
)
LISTED = DialectFields("name description input_schema annotations title output_schema")
"""Fields of another server's tools in an answer."""
CHOSEN = DialectFields("type name server_label", function=DialectFields("name"), custom=DialectFields("name"))
CHOICE = DialectFields(
    "type name mode server_label",
    function=DialectFields("name"),
    custom=DialectFields("name"),
    tools=CHOSEN,
    allowed_tools=DialectFields("mode", tools=CHOSEN),
)
