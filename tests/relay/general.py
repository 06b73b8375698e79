"""General keys, and the groups that they belong to."""

from typing import Any

from accounts.models import Account, Group
from catalog.models import GroupOffer
from tests.rows import IssuedKey, make_key


def make_group(name: str, platform: str = "openai", *, image_generation: bool = False, **offer: Any) -> Group:
    """A group with its offer, which raises the version of the catalog."""
    group = Group.objects.create(name=name, platform=platform, image_generation=image_generation)
    GroupOffer.objects.create(group=group, **offer)
    return group


def make_general_key(account: Account, group: Group | None, name: str = "general", **fields: Any) -> IssuedKey:
    return make_key(account, name, binding="general", group=group, **fields)
