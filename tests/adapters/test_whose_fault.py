"""Whose fault a refusal is: every code that a provider documents, at every adapter that speaks its protocol."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import responses

from adapters.base import UpstreamError
from tests import documented_faults as told_by
from tests.adapters.test_every_answer import spoken, told

DOCUMENTED = {
    "openai_images": told_by.OPENAI,
    "openai_images xai": told_by.XAI,
    "openai_videos": told_by.OPENAI,
    "gemini_generate_content": told_by.GOOGLE,
    "ark_images": told_by.ARK,
    "ark_content_tasks": told_by.ARK,
    "ark_content_tasks minimax_v2": told_by.MINIMAX,
    "dashscope_image": told_by.DASHSCOPE,
    "dashscope_image async": told_by.DASHSCOPE,
    "dashscope_video": told_by.DASHSCOPE,
    "kling_tasks": told_by.KLING,
    "kling_tasks v1": told_by.KLING,
    "openrouter_images": told_by.OPENROUTER,
    "openrouter_videos": told_by.OPENROUTER,
    "runway": told_by.RUNWAY,
    "runway router": told_by.RUNWAY,
    "http_template fal_image": (),
    "http_template replicate_video": (),
}


@pytest.fixture
def provider() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


@pytest.mark.parametrize("name", DOCUMENTED)
def test_each_documented_refusal_is_somebodys_fault(
    name: str, tmp_path: Path, provider: responses.RequestsMock
) -> None:
    asked = spoken(name, tmp_path)
    for refusal in (*DOCUMENTED[name], *told_by.BARE):
        error = told(provider, asked.submitted, refusal.body, refusal.status)
        assert isinstance(error, UpstreamError), refusal
        assert error.kind is refusal.kind, refusal
