"""What clients read on paths that nobody serves."""

import pytest

from common.http import dialects
from relay import unserved
from relay.families import registry

MISPLACED = {
    "/responses": "/v1/responses",
    "/v1/v1/responses": "/v1/responses",
    "/chat/completions": "/v1/chat/completions",
    "/openai/v1/chat/completions": "/v1/chat/completions",
    "/v1beta/openai/chat/completions": "/v1/chat/completions",
    "/v1/v1/messages": "/v1/messages",
    "//v1/messages": "/v1/messages",
    "/v1/messages/": "/v1/messages",
    "/v1/responses/": "/v1/responses",
    "/messages/count_tokens": "/v1/messages/count_tokens",
    "/v1/v1/images/edits": "/v1/images/edits",
    "/models": "/v1/models",
    "/v1/v1/models": "/v1/models",
    "/models/gem-1:generateContent": "/v1beta/models/{model}:generateContent",
    "/v1beta/v1beta/models/gem-1:streamGenerateContent": "/v1beta/models/{model}:streamGenerateContent",
    "/v1alpha/models/gem-1:countTokens": "/v1beta/models/{model}:countTokens",
}
NOT_SERVED = {
    "/v1/messages/batches/msgbatch_1/results": "/v1/messages/batches. Send each request by itself.",
    "/v1/files": "/v1/files. Send a file within the request that needs it.",
    "/upload/v1beta/files": "/v1beta/files. Send a file within the request that needs it.",
    "/v1beta/cachedContents/x": "/v1beta/cachedContents. Nothing is kept here",
    "/v1/responses/resp_1": "/v1/responses/{id}. Nothing is kept here",
    "/v1/completions": "/v1/completions. Use POST /v1/chat/completions.",
    "/v1/embeddings": "/v1/embeddings. It serves text and pictures",
    "/v1/audio/speech": "/v1/audio. It serves text and pictures",
    "/v1/images/variations": "/v1/images/variations. Use POST /v1/images/edits.",
    "/v1beta/fileSearchStores": "this path. It serves text and pictures",
    "/v1/vector_stores/x/files": "this path. It serves text and pictures",
}
OURS = ["/", "/v1/nothing", "/v1/tasks/responses", "/v1/images/generations", "/v1/images/edits", "/v1/videos/messages"]
OURS += ["/console/messages", "/admin/models", "/docs/responses", "/assets/messages", "/v1/admin/models"]


@pytest.mark.parametrize(("path", "served"), MISPLACED.items())
def test_a_wrong_base_url_is_told_the_path_that_is_served(path, served):
    message = f"This path is not served, but {served} is: correct the base URL of your client."
    assert unserved.refusal(path).message == message
    assert registry.find_family("POST", served) or served == "/v1/models"


@pytest.mark.parametrize(("path", "words"), NOT_SERVED.items())
def test_a_path_that_is_not_served_says_what_to_do(path, words):
    assert unserved.refusal(path).message.startswith(f"This service does not serve {words}")


@pytest.mark.parametrize("path", [*MISPLACED, *NOT_SERVED])
def test_whoever_calls_such_a_path_reads_a_vendors_words(path):
    assert dialects.of(path) is not dialects.TASKS


@pytest.mark.parametrize("path", OURS)
def test_paths_of_ours_and_of_nobody_are_left_alone(path):
    assert unserved.refusal(path) is None


def test_nothing_of_a_long_name_is_repeated():
    assert unserved.refuse_verb("/v1/models/x:" + "y" * 1000).message.startswith(
        "This service does not serve this method"
    )
    assert "{model}" in unserved.refusal("/models/" + "x" * 1000 + ":countTokens").message
