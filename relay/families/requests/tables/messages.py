"""Fields of `messages`: Anthropic's (anthropic 2.14, `types/beta`), and those that Claude Code adds.

Blocks of an answer come back in requests, and blocks are nested in blocks, so one table covers blocks of every type.
"""

from relay.families.requests.known_fields import DialectFields
from relay.families.requests.tables.shared import CACHE_CONTROL

# Other models, and objects in somebody else's account.
PRICED_APART = ("container", "fallbacks", "fallback_credit_token", "billing_policy", "user_profile_id", "workspace_id")
TOOL_REFERENCE = DialectFields("type name server_name definition", cache_control=CACHE_CONTROL)
MODEL = DialectFields("model")
BLOCK = DialectFields(
    "type text title context is_error id name input tool_use_id toolset_name server_name mcp_server_name file_id"
    # Thoughts, and data that only the provider can read.
    " thinking signature data encrypted_content encrypted_index encrypted_stdout"
    # Results of the provider's tools.
    " error_code error_message stop_reason stdout stderr return_code url page_age retrieved_at file_type is_file_update"
    " lines new_lines new_start num_lines old_lines old_start start_line total_lines tool_name trigger",
    cache_control=CACHE_CONTROL,
    caller=DialectFields("type tool_id"),
    citations=DialectFields(
        "type enabled cited_text document_index document_title encrypted_index file_id search_result_index source title"
        " url start_block_index end_block_index start_char_index end_char_index start_page_number end_page_number"
    ),
    state_changes=DialectFields("type download_id error path size_bytes tab_id url"),
    tabs=DialectFields("active tab_id title url"),
    tool=TOOL_REFERENCE,
    tool_changes=DialectFields("type", tool=TOOL_REFERENCE, cache_control=CACHE_CONTROL),
    tool_references=DialectFields("type tool_name", cache_control=CACHE_CONTROL),
    tools=DialectFields("name description input_schema"),
    transformations=DialectFields("oversized_image"),
    to=MODEL,
)
BLOCK.hold(**{"from": MODEL}, content=BLOCK, source=DialectFields("type media_type data url file_id", content=BLOCK))

FORMAT = DialectFields("type schema")
OUTPUT_CONFIG = DialectFields("effort", format=FORMAT, task_budget=DialectFields("type total remaining"))
THINKING = DialectFields("type budget_tokens display", block_binding=DialectFields("prefix_mismatch_behavior"))
AMOUNT = DialectFields("type value")
FIELDS = DialectFields(
    "model max_tokens stream stop_sequences temperature top_k top_p tools context_hint service_tier speed"
    " inference_geo " + " ".join(PRICED_APART),
    messages=DialectFields("role clear_at", content=BLOCK, output_config=OUTPUT_CONFIG),
    system=BLOCK,
    metadata=DialectFields("user_id"),
    cache_control=CACHE_CONTROL,
    thinking=THINKING,
    tool_choice=DialectFields("type name disable_parallel_tool_use"),
    context_management=DialectFields(
        edits=DialectFields(
            "type clear_tool_inputs exclude_tools instructions pause_after_compaction",
            clear_at_least=AMOUNT,
            keep=AMOUNT,
            trigger=AMOUNT,
        )
    ),
    compaction=DialectFields("type instructions"),
    output_config=OUTPUT_CONFIG,
    output_format=FORMAT,
    diagnostics=DialectFields("previous_message_id"),
    thread=DialectFields("type previous_message_id"),
    mcp_servers=DialectFields(
        "type name url authorization_token", tool_configuration=DialectFields("enabled allowed_tools")
    ),
    container=DialectFields("id", skills=DialectFields("type skill_id version")),
    fallbacks=DialectFields("model max_tokens speed", output_config=OUTPUT_CONFIG, thinking=THINKING),
    fallback_credit_token=DialectFields("mode token"),
    billing_policy=DialectFields("type bill_to"),
)
