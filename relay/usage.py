"""GET /v1/usage: the balance of the account, and what this key's calls have cost."""

from billing import relay_usage
from common.concurrency import threads
from common.http.asgi import Answer, Scope, json_answer
from relay.admission import RelayAdmission

PATH = "/v1/usage"


async def answer(scope: Scope, admitted: RelayAdmission) -> Answer:
    caller = admitted.caller
    return json_answer(200, await threads.call(relay_usage.of_key, caller.key_id, caller.account_id))
