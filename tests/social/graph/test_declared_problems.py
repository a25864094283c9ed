"""Problems of the API of users that take some bringing about, each answered once over HTTP."""

from tests.social.support.drivers import Town, settle
from tests.social.support.interleaving import Meantime
from tests.support.http_client import Client


def test_who_has_written_nothing_yet_has_no_followers_to_list(client: Client) -> None:
    assert client.as_("new").get("/users/me/followers").code == "unknown_user"


def test_who_is_erased_while_they_name_themselves_is_told(
    watched: Town, meantime: Meantime
) -> None:
    settle(watched.client, "ann")
    users = watched.runtime.database["social.user"]
    meantime.before("findAndModify", "social.user", lambda: users.delete_one({"_id": "ann"}))

    reply = watched.client.as_("ann").put("/users/me", name="Anna")

    assert meantime.done()
    assert (reply.status, reply.code) == (404, "unknown_user")
