"""GET of the models that a general key's group lists, or of one of them, in the dialect of the path or headers."""

import re
from urllib.parse import parse_qsl

from common.errors import ModelNotFound
from common.http.asgi import Answer, Scope, dialect_of, json_answer
from relay.admission import RelayAdmission
from relay.lists import model_names
from relay.lists.model_shapes import GOOGLE_METHODS, ModelShapes

PATH = re.compile(r"/(?:v1|v1beta)/models(?:/(?P<name>.+))?", re.DOTALL)


async def answer(scope: Scope, admitted: RelayAdmission) -> Answer:
    """Answers the request; a key without a group has an empty list. Raises ModelNotFound, and InvalidRequest for a bad
    page size."""
    names, shapes = await _names(admitted), _shapes(scope, admitted)
    found = PATH.fullmatch(scope["path"])
    name = found["name"] if found else None
    if name is None:
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        return json_answer(200, shapes.page(names, query))
    if name not in names:
        raise ModelNotFound("The model does not exist, or is not on offer for this API key.", param="model")
    return json_answer(200, shapes.one(name))


async def _names(admitted: RelayAdmission) -> tuple[str, ...]:
    if admitted.group is None:
        return ()
    return await model_names.list_models(admitted.group, admitted.caller.catalog_version)


def _shapes(scope: Scope, admitted: RelayAdmission) -> ModelShapes:
    speaks_google = admitted.group is not None and "generate_content" in admitted.group.dialects
    return ModelShapes(dialect=dialect_of(scope), methods=GOOGLE_METHODS if speaks_google else ())
