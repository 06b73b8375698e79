"""What the front has let in, the view does not ask for again; and it takes no other request's admission."""

from common.errors import AuthenticationError
from tasks.gate import Knock
from tasks_api import admissions
from tasks_api.admissions import Handed

REFUSED = AuthenticationError(headers={"WWW-Authenticate": "Bearer"})


def handed(idempotency_key: str | None = None) -> dict[str, Handed]:
    """What says of a good key that it does not open."""
    knock = Knock(authorization="", idempotency_key=idempotency_key)
    return {admissions.HANDED: Handed(knock=knock, outcome=REFUSED)}


def test_a_view_takes_the_admission_that_it_is_handed(client_for, key):
    assert client_for(key).get("/v1/tasks", **handed()).status_code == 401


def test_an_admission_that_asked_for_another_idempotency_key_is_asked_for_again(client_for, key, image_model):
    answer = client_for(key).post(
        "/v1/tasks", b"{", "application/json", headers={"Idempotency-Key": "a"}, **handed("b")
    )
    assert answer.status_code == 400
