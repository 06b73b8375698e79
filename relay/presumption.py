"""Who a caller is presumed to be: the owner of his secret when a call of his was last opened.

Nobody is let in by it. The statement that opens the call asks whether all of it still holds (`entitled`); where it does
not, the call begins again with a look at the key.
"""

from dataclasses import dataclass
from functools import cache

from common import sql
from common.recent import Recent
from tasks import gate

MOST = 10_000


@dataclass(slots=True)
class Presumption:
    """That whoever presents the secret of this digest is let in as he was before; until it is confirmed, nobody was."""

    digest: str
    is_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class KnownKey:
    """What a caller is presumed to be."""

    key_id: int
    account_id: int
    group_id: int


def find(digest: str) -> KnownKey | None:
    """Whose the secret was, None where that is not known."""
    return _known.get(digest)


def remember(digest: str, key: KnownKey) -> None:
    """A call of this key is open: the next one may presume as much."""
    _known.put(digest, key)


def forget(digest: str) -> None:
    """What was presumed of this secret was not confirmed."""
    _known.put(digest, None)


@cache
def entitled() -> str:
    """Whether the caller of a row `given` of `billing/presumed_calls.py` is let in, as an SQL condition."""
    return ENTITLED.format(valid=gate.VALID.format(now=sql.now()))


ENTITLED = """
EXISTS (
    SELECT 1 FROM accounts_keysecret ks JOIN accounts_apikey k ON k.id = ks.key_id
    WHERE ks.digest = given.digest AND k.id = given.key AND k.account_id = given.account
        AND k.group_id = given.group_id AND k.binding = 'general' AND {valid}
) AND given.version = (SELECT version FROM catalog_catalogversion LIMIT 1)
"""

_known: Recent[str, KnownKey | None] = Recent(MOST)
