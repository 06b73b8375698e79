"""Fields of `chat`: OpenAI's (openai 3.57, `types/chat`), and those of other servers of that dialect.

Fields of other servers are included if they change the answer rather than its cost, or come from answers that are sent
back.
"""

from relay.families.requests.known_fields import DialectFields
from relay.families.requests.tables import openai_tools
from relay.families.requests.tables.shared import (
    ANNOTATION,
    CACHE_BREAKPOINT,
    CACHE_CONTROL,
    EXTRA_CONTENT,
    LOCATION,
    MEDIA,
    MODERATION,
)

# Searches, plug-ins and models other than the priced one, as OpenAI-compatible providers offer them.
PRICED_APART = (
    "enable_search", "search_options", "search_parameters", "web_search", "plugins", "models", "provider", "preset",
    "route", "transforms",
)  # fmt: skip
# Pictures, files, sound and films under any name, all of which are counted.
HOLDERS = (
    "image image_url images input_image input_audio audio audio_url video video_url file file_url document document_url"
)
PART = DialectFields(
    "type text refusal index id name uuid detail format data url filename file_id file_data mime_type media_type title"
    " context signature thought_signature encrypted_content reference_ids document_name min_pixels max_pixels"
    " total_pixels fps max_frames input tool_use_id is_error closed provider_specific_fields",
    source=MEDIA,
    cache_control=CACHE_CONTROL,
    prompt_cache_breakpoint=CACHE_BREAKPOINT,
    extra_content=EXTRA_CONTENT,
    annotations=ANNOTATION,
)
PART.hold(content=PART, thinking=PART, **dict.fromkeys(HOLDERS.split(), MEDIA))
TOOL_CALL = DialectFields(
    "id type index signature thought_signature provider_specific_fields",
    function=DialectFields("name arguments parsed_arguments thought_signature provider_specific_fields"),
    custom=DialectFields("name input"),
    extra_content=EXTRA_CONTENT,
    cache_control=CACHE_CONTROL,
)
MESSAGE = DialectFields(
    "role name refusal tool_call_id id status phase recipient prefix partial parsed tool_name is_error weight"
    " provider_specific_fields"
    # Thoughts, as servers send and receive them.
    " reasoning_content reasoning reasoning_signature thinking thinking_signature signature thought_signature"
    " encrypted_content"
    # Results of the provider's own tools.
    " search_results executed_tools context end_turn",
    content=PART,
    images=PART,
    audio=DialectFields("id data expires_at transcript format url"),
    function_call=DialectFields("name arguments"),
    tool_calls=TOOL_CALL,
    annotations=ANNOTATION,
    citations=ANNOTATION,
    reasoning_details=DialectFields("type id format index text summary data signature content"),
    thinking_blocks=DialectFields("type thinking signature data", cache_control=CACHE_CONTROL),
    extra_content=EXTRA_CONTENT,
    cache_control=CACHE_CONTROL,
)
THOUGHTS = DialectFields("include_thoughts includeThoughts thinking_budget thinkingBudget thinking_level thinkingLevel")
SAFETY = DialectFields("category threshold method")
FIELDS = DialectFields(
    # OpenAI's.
    "model stream max_tokens max_completion_tokens n temperature top_p stop seed logprobs top_logprobs logit_bias"
    " frequency_penalty presence_penalty tools parallel_tool_calls reasoning_effort verbosity metadata store user"
    " safety_identifier modalities service_tier prompt_cache_key prompt_cache_retention"
    # Other servers' sampling and limits.
    " top_k top_a min_p typical_p tfs repetition_penalty length_penalty no_repeat_ngram_size bad_words min_tokens"
    " random_seed do_sample ignore_eos stop_token_ids include_stop_str_in_output skip_special_tokens"
    " spaces_between_special_tokens truncate_prompt_tokens prompt_logprobs best_of use_beam_search early_stopping"
    # Formats and templates.
    " guided_json guided_regex guided_choice guided_grammar guided_decoding_backend guided_whitespace_pattern"
    " structured_outputs chat_template_kwargs add_generation_prompt continue_final_message add_special_tokens echo"
    " documents regex ebnf return_token_ids return_tokens_as_token_ids allowed_token_ids"
    " safe_prompt safety_settings result_format incremental_output tool_stream vl_high_resolution_images"
    # Thoughts.
    " enable_thinking thinking_budget include_reasoning reasoning_format reasoning_split"
    " reasoning_history separate_reasoning stream_reasoning preserve_thinking prompt_mode think"
    # The end user, and how to answer.
    " request_id user_id session_id client_metadata cache_salt" + " " + " ".join(PRICED_APART),
    messages=MESSAGE,
    response_format=DialectFields(
        "type schema grammar regex pattern value structures triggers format",
        json_schema=DialectFields("name description schema strict"),
    ),
    tool_choice=openai_tools.CHOICE,
    functions=DialectFields("name description parameters strict"),
    function_call=DialectFields("name"),
    prediction=DialectFields("type", content=PART),
    moderation=MODERATION,
    audio=DialectFields("format", voice=DialectFields("id")),
    web_search_options=DialectFields("search_context_size", user_location=LOCATION),
    stream_options=DialectFields("include_usage include_obfuscation continuous_usage_stats chunk_include_usage"),
    reasoning=DialectFields("effort summary generate_summary exclude enabled max_tokens context"),
    thinking=DialectFields("type budget_tokens display clear_thinking keep effort"),
    thinking_config=THOUGHTS,
    usage=DialectFields("include"),
    cache_control=CACHE_CONTROL,
    prompt_cache_options=DialectFields("mode ttl"),
    extra_body=DialectFields(
        google=DialectFields("cached_content thought_tag_marker", thinking_config=THOUGHTS, safety_settings=SAFETY)
    ),
)
