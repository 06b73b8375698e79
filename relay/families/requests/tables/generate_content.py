"""Fields of `generate_content`: Google's (google-genai 3.6, `types.py`), and those that Gemini CLI sends."""

from functools import partial

from relay.families.requests.known_fields import DialectFields

fields = partial(DialectFields, two_spellings=True)

# Other models, and other kinds of output.
PRICED_APART = ("routingConfig", "modelSelectionConfig", "translationConfig", "audioTranscriptionConfig")
ACCOUNTS_OWN = ("cachedContent", "continuationToken", "generationOutputConfig", "modelArmorConfig")

EMPTY = fields()
SPAN = "startOffset endOffset"
# Fields of a picture, a sound or a film, in a message or in a function's result.
MEDIA = {
    "inlineData": fields("mimeType data displayName"),
    "fileData": fields("mimeType fileUri displayName"),
    "mediaResolution": fields("level numTokens"),
    "videoMetadata": fields(f"{SPAN} fps contentLayers"),
    "audioMetadata": fields(SPAN),
    "documentMetadata": fields("contentLayers startPage endPage"),
    "spreadsheetMetadata": fields("contentLayers sheetIndex visibleCells"),
}
RETURNED = fields("mediaProcessing")
RETURNED.hold(**MEDIA)
PART = fields(
    "text thought thoughtSignature mediaProcessing partMetadata",
    functionCall=fields(
        "id name args willContinue",
        partialArgs=fields("jsonPath boolValue nullValue numberValue stringValue willContinue"),
    ),
    functionResponse=fields("id name response scheduling willContinue", parts=RETURNED),
    toolCall=fields("id toolType args"),
    toolResponse=fields("id toolType response"),
    executableCode=fields("id code language"),
    codeExecutionResult=fields("id outcome output"),
    audioTranscription=fields(f"{SPAN} text finished languageCode speakerLabel", words=fields(f"{SPAN} word")),
    speechMetadata=fields("speaker style"),
)
PART.hold(**MEDIA)
CONTENT = fields("role", parts=PART)

VOICE = fields(
    "voice",
    prebuiltVoiceConfig=fields("voiceName"),
    replicatedVoiceConfig=fields("mimeType voiceSampleAudio consentAudio", voiceConsentSignature=fields("signature")),
)
SETTINGS = fields(
    "temperature topP topK seed stopSequences maxOutputTokens candidateCount presencePenalty frequencyPenalty"
    " responseLogprobs logprobs responseMimeType responseSchema responseJsonSchema _responseJsonSchema"
    " responseModalities mediaResolution audioTimestamp enableAffectiveDialog enableEnhancedCivicAnswers "
    + " ".join(PRICED_APART),
    responseFormat=fields(
        text=fields("mimeType schema"),
        image=fields("aspectRatio delivery imageSize mimeType"),
        audio=fields("bitRate delivery mimeType sampleRate"),
        video=fields("aspectRatio delivery duration gcsUri resolution"),
    ),
    imageConfig=fields(
        "aspectRatio imageSize outputCompressionQuality outputMimeType personGeneration prominentPeople",
        imageOutputOptions=fields("compressionQuality mimeType"),
    ),
    speechConfig=fields(
        "languageCode",
        voiceConfig=VOICE,
        multiSpeakerVoiceConfig=fields(speakerVoiceConfigs=fields("speaker", voiceConfig=VOICE)),
    ),
    thinkingConfig=fields("includeThoughts thinkingBudget thinkingLevel"),
    routingConfig=fields(autoMode=fields("modelRoutingPreference"), manualMode=fields("modelName")),
    modelSelectionConfig=fields("featureSelectionPreference"),
    translationConfig=fields("echoTargetLanguage targetLanguageCode"),
    audioTranscriptionConfig=fields(
        "adaptationPhrases customVocabulary diarization languageCodes mode sourceText wordTimestamp",
        languageAuto=EMPTY,
        languageHints=fields("languageCodes"),
    ),
)
REQUEST = fields(
    "model tools serviceTier labels store " + " ".join(ACCOUNTS_OWN),
    contents=CONTENT,
    systemInstruction=CONTENT,
    generationConfig=SETTINGS,
    safetySettings=fields("category method threshold"),
    toolConfig=fields(
        "includeServerSideToolInvocations",
        functionCallingConfig=fields("allowedFunctionNames mode streamFunctionCallArguments"),
        retrievalConfig=fields("languageCode", latLng=fields("latitude longitude")),
    ),
    generationOutputConfig=fields("outputUriPrefix"),
    modelArmorConfig=fields("promptTemplateName responseTemplateName"),
)
