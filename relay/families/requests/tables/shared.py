"""Fields of objects that occur in more than one dialect."""

from relay.families.requests.known_fields import DialectFields

CACHE_CONTROL = DialectFields("type ttl scope")
CACHE_BREAKPOINT = DialectFields("mode ttl")
LOCATION = DialectFields("type city country region timezone", approximate=DialectFields("city country region timezone"))
MODERATION_MODE = DialectFields("mode")
MODERATION = DialectFields("model", policy=DialectFields(input=MODERATION_MODE, output=MODERATION_MODE))
SIGNATURE = DialectFields("thought thought_signature")
EXTRA_CONTENT = DialectFields(google=SIGNATURE)
"""Data that Google adds to answers in OpenAI's dialect, and expects back."""
# Includes servers' fields for one picture or film: how many of its pixels and frames are read.
MEDIA = DialectFields(
    "url data type format detail name filename file_id file_data file_url mime_type media_type uuid min_pixels"
    " max_pixels image_pixel_limit fps max_frames num_frames video_metadata"
)
ANNOTATION = DialectFields(
    "type index start_index end_index title url file_id filename container_id text",
    url_citation=DialectFields("start_index end_index title url content"),
    file_citation=DialectFields("index file_id filename quote"),
    document_citation=DialectFields("start_index end_index document_id"),
    function_citation=DialectFields("start_index end_index tool_call_id"),
    file=DialectFields("hash name", content=DialectFields("type text", image_url=MEDIA)),
)
LOGPROB = DialectFields("token logprob bytes")
LOGPROB.hold(top_logprobs=LOGPROB)
