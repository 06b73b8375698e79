"""Whose fault a refusal is: every code that a vendor documents, in the dialect in which it is relayed."""

import json

import pytest

from adapters.base import FAULTS, Fault
from relay.calls import failover
from relay.families.base import Family
from relay.families.registry import CHAT, GENERATE_CONTENT, IMAGES, MESSAGES, RESPONSES
from tests import documented_faults as told_by
from tests.documented_faults import Refusal

OPENAI_SHAPED = (
    *told_by.OPENAI,
    *told_by.XAI,
    *told_by.ARK,
    *told_by.DASHSCOPE,
    *told_by.OPENROUTER,
    *told_by.GROQ,
    *told_by.MINIMAX_CHAT,
)
DIALECTS: list[tuple[Family, tuple[Refusal, ...]]] = [
    *((family, OPENAI_SHAPED) for family in (CHAT, RESPONSES, IMAGES)),
    (MESSAGES, told_by.ANTHROPIC),
    (GENERATE_CONTENT, told_by.GOOGLE),
]


@pytest.mark.parametrize(("family", "documented"), DIALECTS)
def test_each_documented_refusal_is_somebodys_fault(family: Family, documented: tuple[Refusal, ...]) -> None:
    for refusal in (*documented, *told_by.BARE):
        sent = refusal.body.encode() if isinstance(refusal.body, str) else json.dumps(refusal.body).encode()
        error = family.refusal(refusal.status, {}, sent)
        assert error.kind is refusal.kind, refusal
        if FAULTS.get(error.kind) is Fault.REQUEST:
            assert failover.end_without_answer([error], [], model="m").error.status == 400, refusal
        else:
            assert failover.may_go_on(error), refusal
