"""Fields of Google's tools, each by its name in an entry (google-genai 3.6).

Entries of other names are judged as unknown tools. Schemas may contain anything here.
"""

from functools import partial

from relay.families.requests.known_fields import DialectFields

fields = partial(DialectFields, two_spellings=True)

EMPTY = fields()
AUTH = fields(
    "authType apiKey",
    apiKeyConfig=fields("name apiKeySecret apiKeySecretVersion apiKeyString httpElementLocation"),
    googleServiceAccountConfig=fields("serviceAccount"),
    httpBasicAuthConfig=fields("credentialSecret"),
    oauthConfig=fields("accessToken serviceAccount"),
    oidcConfig=fields("idToken serviceAccount"),
)
SEARCH = fields(
    "blockingConfidence excludeDomains",
    searchTypes=fields(webSearch=EMPTY, imageSearch=EMPTY),
    timeRangeFilter=fields("startTime endTime"),
)
RANKER = fields("modelName")
RETRIEVAL = fields(
    "disableAttribution",
    externalApi=fields(
        "apiSpec endpoint",
        apiAuth=AUTH,
        authConfig=AUTH,
        elasticSearchParams=fields("index numHits searchTemplate"),
        simpleSearchParams=EMPTY,
    ),
    vertexAiSearch=fields("datastore engine filter maxResults", dataStoreSpecs=fields("dataStore filter")),
    vertexRagStore=fields(
        "ragCorpora similarityTopK storeContext vectorDistanceThreshold",
        ragResources=fields("ragCorpus ragFileIds"),
        ragRetrievalConfig=fields(
            "topK",
            filter=fields("metadataFilter vectorDistanceThreshold vectorSimilarityThreshold"),
            hybridSearch=fields("alpha"),
            ranking=fields(llmRanker=RANKER, rankService=RANKER),
        ),
    ),
)
TOOL = fields(
    others_pass=True,
    functionDeclarations=fields(
        "name description behavior parameters parametersJsonSchema response responseJsonSchema"
    ),
    computerUse=fields("environment excludedPredefinedFunctions disabledSafetyPolicies enablePromptInjectionDetection"),
    codeExecution=EMPTY,
    enterpriseWebSearch=fields("blockingConfidence excludeDomains"),
    exaAiSearch=fields("apiKey customConfigs"),
    fileSearch=fields("fileSearchStoreNames metadataFilter topK"),
    googleMaps=fields("enableWidget", authConfig=AUTH, groundingTypes=fields(places=EMPTY, routing=EMPTY)),
    googleSearch=SEARCH,
    googleSearchRetrieval=fields(dynamicRetrievalConfig=fields("mode dynamicThreshold")),
    mcpServers=fields("name", streamableHttpTransport=fields("url headers timeout sseReadTimeout terminateOnClose")),
    parallelAiSearch=fields("apiKey customConfigs enableDataRetention enableZeroDataRetention"),
    retrieval=RETRIEVAL,
    urlContext=EMPTY,
)
