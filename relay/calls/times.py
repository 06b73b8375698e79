"""How long a relayed call may take, in seconds. All of it stands here."""

# From the request until the first event of a stream, or the whole answer: SDKs give up after 600, and we decide first.
ANSWER_SECONDS = 570.0
# For one attempt: name, connection and TLS. Of what is left each attempt has an equal share at most.
CONNECT_SECONDS = 5.0
# The body of an error, whose status says enough without it.
ERROR_BODY_SECONDS = 5.0
# A stream, while its upstream is waited for.
STREAM_SECONDS = 3600.0
# What is left of an answer whose client has left.
ABANDONED_SECONDS = 570.0
# A stream that has waited so long for its client may be broken off by its upstream because of that.
HELD_UP_SECONDS = 30.0
# What a stream's client hears a blank line after, and what an upstream is given up after.
BEAT_SECONDS = 15.0
SILENCE_SECONDS = 600.0
# For the last words to a client that may not read them.
LAST_WORDS_SECONDS = 1.0
