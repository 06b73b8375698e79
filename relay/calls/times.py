"""Time limits of a relayed call, in seconds."""

# From the request to a stream's first event or the whole answer. SDKs give up after 600; we decide first.
ANSWER_SECONDS = 570.0
# For one attempt's name lookup, connection and TLS: at most an equal share of the time left.
CONNECT_SECONDS = 5.0
# For the body of an error, whose status says enough without it.
ERROR_BODY_SECONDS = 5.0
# For each silence of a stream's upstream.
STREAM_SECONDS = 3600.0
# For the rest of an answer whose client has left.
ABANDONED_SECONDS = 570.0
# After a wait this long for its client, a stream may be ended by its upstream for that reason.
HELD_UP_SECONDS = 30.0
# Silence after which a stream's client gets a blank line, and after which an upstream is given up.
BEAT_SECONDS = 15.0
SILENCE_SECONDS = 600.0
# For the last frame to a client that may not read it.
LAST_WORDS_SECONDS = 1.0
