"""Fields of `responses`: OpenAI's (openai 3.57, `types/responses`), and those that Codex adds.

Items of an answer come back in requests, so the table of items covers both, for every type.
"""

from relay.families.requests.known_fields import DialectFields
from relay.families.requests.tables import openai_tools
from relay.families.requests.tables.shared import (
    ANNOTATION,
    CACHE_BREAKPOINT,
    CACHE_CONTROL,
    LOGPROB,
    MEDIA,
    MODERATION,
)

PART = DialectFields(
    "type text refusal detail image_url file_id file_url file_data filename audio_url video_url encrypted_content"
    " signature parsed id"
    # Output of a shell.
    " stdout stderr created_by",
    input_audio=MEDIA,
    annotations=ANNOTATION,
    logprobs=LOGPROB,
    outcome=DialectFields("type exit_code"),
    prompt_cache_breakpoint=CACHE_BREAKPOINT,
    cache_control=CACHE_CONTROL,
)
POINT = DialectFields("x y")
ACTION = DialectFields(
    "type button keys scroll_x scroll_y text x y url query queries pattern command commands env timeout_ms"
    " max_output_length user working_directory",
    path=POINT,
    sources=DialectFields("type url title name"),
)
CHECK = DialectFields("id code message")
FORMAT = DialectFields("type name description schema strict")
ITEM = DialectFields(
    "type id role status phase partial name namespace call_id author recipient created_by approval_request_id approve"
    " reason async input arguments parsed_arguments execution fingerprint signature format encrypted_content"
    " encrypted_function_args tools container_id code queries server_label max_output_length"
    # Pictures.
    " result revised_prompt background output_format quality size",
    content=PART,
    summary=PART,
    output=PART,
    action=ACTION,
    actions=ACTION,
    acknowledged_safety_checks=CHECK,
    pending_safety_checks=CHECK,
    caller=DialectFields("type caller_id"),
    environment=DialectFields("type container_id", skills=openai_tools.SKILLS),
    error=DialectFields(
        "type code message param content", moderation_details=DialectFields("categories moderation_stage")
    ),
    operation=DialectFields("type path diff"),
    outputs=DialectFields("type logs url"),
    reasoning=DialectFields("effort"),
    results=DialectFields("file_id filename score text attributes"),
    svg_usage=DialectFields("model input_tokens output_tokens reasoning_tokens total_tokens"),
    text=DialectFields(format=FORMAT),
    cache_control=CACHE_CONTROL,
    internal_chat_message_metadata_passthrough=DialectFields(
        "turn_id create_time content_item_kinds cell_id executed_tool_calls tool_calls_complete"
    ),
)
FIELDS = DialectFields(
    "model stream max_output_tokens max_tool_calls temperature top_p top_logprobs tools parallel_tool_calls include"
    " store metadata user safety_identifier truncation service_tier previous_response_id background prompt_cache_key"
    " prompt_cache_retention client_metadata frequency_penalty presence_penalty seed stop top_k min_p"
    " repetition_penalty enable_thinking chat_template_kwargs request_id",
    input=ITEM,
    instructions=DialectFields("type id role status phase", content=PART),
    tool_choice=openai_tools.CHOICE,
    moderation=MODERATION,
    conversation=DialectFields("id"),
    background_options=DialectFields("completion_window continuation_id"),
    access_programs=DialectFields("cyber"),
    stream_options=DialectFields("include_obfuscation include_usage"),
    reasoning=DialectFields("effort summary generate_summary context mode enabled exclude max_tokens"),
    thinking=DialectFields("type budget_tokens display"),
    text=DialectFields("verbosity", format=FORMAT),
    image=DialectFields("context_compression"),
    prompt=DialectFields("id version variables"),
    prompt_cache_options=DialectFields("mode ttl prewarm comparison_response_id"),
    context_management=DialectFields("type compact_threshold"),
)
