"""The upstream fields of `runway`, by what they can do to the cost.

Kinds are those of `adapters/kit/upstream_fields.py`; what is not listed is the operator's. The router's are those of
its `input`. A draft is made smaller, and made again at its full size by a job of the operator's account.
"""

from adapters.kit.upstream_fields import forbidden, neutral, operators, priced

SDK = "Runway's Python SDK 5.24.0"

SHARED = (
    *priced(SDK, "audio", "duration", "ratio", "resolution"),
    *neutral(SDK, "promptText", "referenceImages", "referenceVideos", "referenceAudio", derived=True),
    *neutral(SDK, "negativePrompt", "seed"),
    *neutral(SDK, "contentModeration.publicFigureThreshold", values=("auto",)),
    *operators(SDK, "contentModeration", "draft", "draftTaskId", "mode", "outputFormat", "proresProfile"),
    *operators(SDK, "promptExpansionMode", "targetAspectRatio"),
    *forbidden(SDK, "configId", "inputs", "keyframes", "model", "promptVideo", "providerSettings", "videoUri"),
)
CLASSIC = (
    *SHARED,
    *neutral(SDK, "promptImage", "references", derived=True),
    *neutral(SDK, "cfgScale"),
)
ROUTER = (*SHARED, *neutral(SDK, "aspectRatio", derived=True))
