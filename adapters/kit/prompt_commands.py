"""Commands that a model reads from the prompt (`--rs 720p --dur 10`): they would change what is bought.

Matched in any case and anywhere: whether a provider asks for a blank before them is not documented. Nothing of these is
known of Wan, MiniMax, Runway's own models and Gemini. Facts: Volcengine's documentation of video generation
("parameters in the prompt": resolution/rs, ratio/rt, duration/dur, frames, framespersecond/fps, seed, camerafixed/cf,
watermark/wm) and copies of it, which add framepersecond, audio and noaudio.
"""

import re

# No words of any language: each is a command wherever two dashes stand before it.
TERMS = "rs|rt|dur|wm|cf|fps|frames?_?per_?second|camera_?fixed|no_?audio|generate_?audio"
# Words, which people write after a dash of two: a command where they stand apart or a value follows.
WORDS = "resolution|ratio|duration|frames|seed|watermark|audio"
BETWEEN = r"(?u:[\s=:])"  # blanks of every script, such as the wide one of Chinese
VALUE = rf"(?:{BETWEEN}*-?\d|{BETWEEN}+(?:true|false|adaptive|keep_ratio)\b|=)"
SEEDANCE = re.compile(
    rf"--(?:(?:{TERMS})(?![a-z])|(?:{WORDS}){VALUE}|(?<![^\W_]--)(?:{WORDS})(?![a-z]))", re.IGNORECASE | re.ASCII
)


def seedance(prompt: str) -> str | None:
    """The first command of Seedance in a prompt, as it stands there; None without one."""
    found = SEEDANCE.search(prompt)
    return found[0].strip() if found else None
