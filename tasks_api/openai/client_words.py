"""Our refusals in the words of another front's clients: our paths become the names of their fields."""

import json
import re
from collections.abc import Mapping

from common.errors import ApiError, UnsupportedAdapter, UnsupportedModel


class ClientWords:
    """`options` is the field of params that takes what has no word of ours. `names` are the clients' names of the other
    fields, by expressions of our paths below params; a field that is not among them has the same name."""

    def __init__(self, options: str, names: Mapping[str, str]) -> None:
        others = "|".join(f"({path})" for path in names)
        # Not in a name that the client made up; one that is no plain word stands in quotes.
        self._ours = re.compile(rf'(?<!["\w.])params\.(?:{options}(?:\.|\[("(?:[^"\\]|\\.)*")\])|{others})?')
        self._names = tuple(names.values())

    def of(self, error: ApiError) -> ApiError:
        """The same refusal with the fields as the clients know them."""
        message, param = self._renamed(error.message), error.param
        param = self._renamed(param) if param else None
        if isinstance(error, UnsupportedModel | UnsupportedAdapter):
            message, param = message.replace("modality:", "model:", 1), "model"
        return type(error)(message, headers=error.headers, param=param, may_have_cost=error.may_have_cost)

    def _renamed(self, text: str) -> str:
        return self._ours.sub(self._theirs, text)

    def _theirs(self, found: re.Match[str]) -> str:
        quoted, *others = found.groups()
        if quoted:
            return str(json.loads(quoted))
        return next((name for name, path in zip(self._names, others, strict=True) if path), "")
