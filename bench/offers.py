"""Catalogs of the rows about workers: the example's models, sold by the row's own channel."""

CHANNEL = """
version: 1
channels:
  - name: {name}
    adapter: {adapter}
    base_url: "{base_url}"
    credentials: {{api_key: bench}}
    max_running: {most}
    models: [{{model: {model}, modality: {modality}, upstream_model: {upstream}}}]
{options}
"""
MOST = 1_000_000


def images(adapter: str, base_url: str) -> str:
    """Offers `aurora-image` on this channel."""
    return CHANNEL.format(
        name="studio",
        adapter=adapter,
        base_url=base_url,
        most=MOST,
        model="aurora-image",
        modality="image",
        upstream="gpt-image-2",
        options="",
    )


def films(adapter: str, base_url: str, *, every: float) -> str:
    """Offers `comet-video` on this channel, whose jobs are polled every `every` seconds."""
    return CHANNEL.format(
        name="cinema",
        adapter=adapter,
        base_url=base_url,
        most=MOST,
        model="comet-video",
        modality="video",
        upstream="seedance-2-0",
        options=f"    options: {{poll_seconds: {every:g}}}",
    )


def instant() -> str:
    """Offers images without any I/O, from the adapter in `bench/plugin/`."""
    return images("bench_instant", "http://127.0.0.1:9")


IMAGE = {"model": "aurora-image", "modality": "image", "params": {"prompt": "a fox before a mountain " + "p" * 600}}
FILM = {
    "model": "comet-video",
    "modality": "video",
    "params": {"prompt": "a fox runs " + "p" * 600, "duration": 5, "resolution": "720p", "aspect_ratio": "16:9"},
}
CALLBACK = "http://127.0.0.1:9/done"
