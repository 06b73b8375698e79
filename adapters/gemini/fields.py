"""The upstream fields of `gemini_generate_content`.

Facts: Google's SDK google-genai 3.4.0 (GenerateContentConfig, GenerationConfig, ImageConfig) and its reference of
generateContent.
"""

from adapters.gemini import contents
from adapters.kit import rules
from adapters.kit.upstream_fields import OUR_CALLS, forbidden, neutral, operators, priced

SDK = "google-genai 3.4.0: GenerateContentConfig, GenerationConfig, ImageConfig"
API = "https://ai.google.dev/api/generate-content"
PRICES = "https://ai.google.dev/gemini-api/docs/pricing"
MAX_IMAGES = 3_600
TIERS = {"0.5K": "512", "1K": "1K", "2K": "2K", "4K": "4K"}
CONFIG, IMAGE = "generationConfig.", "generationConfig.imageConfig."

FIELDS = (
    *priced(PRICES, f"{IMAGE}imageSize", legal=rules.one_of(*TIERS.values())),
    *neutral(SDK, f"{IMAGE}aspectRatio", derived=True, legal=rules.A_RATIO),
    *neutral(SDK, f"{IMAGE}imageOutputOptions", f"{IMAGE}outputMimeType", f"{IMAGE}outputCompressionQuality"),
    *operators(SDK, f"{IMAGE}personGeneration", f"{IMAGE}prominentPeople"),
    # With text beside it, models make further pictures.
    *neutral(SDK, f"{CONFIG}responseModalities", values=(("IMAGE",),)),
    *neutral(SDK, *(f"{CONFIG}{name}" for name in ("seed", "temperature", "topP", "topK", "stopSequences"))),
    *neutral(SDK, *(f"{CONFIG}{name}" for name in ("presencePenalty", "frequencyPenalty", "maxOutputTokens"))),
    *neutral(SDK, *(f"{CONFIG}{name}" for name in ("logprobs", "responseLogprobs", "audioTimestamp"))),
    *neutral(SDK, *(f"{CONFIG}{name}" for name in ("responseMimeType", "responseSchema", "responseJsonSchema"))),
    *neutral(SDK, f"{CONFIG}enableEnhancedCivicAnswers", "labels"),
    *operators(PRICES, f"{CONFIG}thinkingConfig", f"{CONFIG}mediaResolution"),
    *operators(SDK, *(f"{CONFIG}{name}" for name in ("speechConfig", "translationConfig"))),
    *operators(SDK, *(f"{CONFIG}{name}" for name in ("audioTranscriptionConfig", "enableAffectiveDialog"))),
    *forbidden(SDK, *(f"{CONFIG}{name}" for name in ("candidateCount", "responseFormat"))),
    *forbidden(SDK, *(f"{CONFIG}{name}" for name in ("modelSelectionConfig", "routingConfig"))),
    *operators(API, "safetySettings", "modelArmorConfig", "tools", "toolConfig", "serviceTier"),
    *operators(API, "systemInstruction", "cachedContent", "generationOutputConfig", "store", "continuationToken"),
    *neutral(API, "contents", derived=True, replaces="messages", parts=contents.parts, most=MAX_IMAGES),
    *forbidden(API, "model", "stream", "n"),
    *OUR_CALLS,
)
