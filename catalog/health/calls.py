"""One call of a channel, in the terms in which its outcome is judged."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelCall:
    """A call that went out, or would have: through which channel and credential, of which of its models, for whom.
    `task_id` is empty for a relayed call, `credential_id` None where no credential of the channel opens; `tried` are
    the rests that it is the one to try."""

    channel_id: int
    credential_id: int | None
    upstream_model: str
    account_id: int
    task_id: str = ""
    tried: frozenset[int] = frozenset()
