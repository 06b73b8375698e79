"""The capability matrix is as the adapters are."""

from tools import adapter_docs


def test_the_page_is_what_make_docs_would_write():
    assert adapter_docs.PAGE.read_text(encoding="utf-8") == adapter_docs.page()


def test_every_adapter_of_ours_that_runs_tasks_stands_in_a_matrix():
    shown = {column.adapter.protocol for modality in adapter_docs.CHANGES for column in adapter_docs.columns(modality)}
    relays = {"openai_relay", "anthropic_relay", "gemini_relay"}
    assert shown == set(adapter_docs.registry.ADAPTERS) - relays
    assert all(f"### {name}\n" in adapter_docs.page() for name in relays)
