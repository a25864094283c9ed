"""Guests of a site and the accounts that join their pasts."""

from datetime import timedelta
from typing import Any

from chalicelib import account_tokens
from chalicelib.account_tokens import SiteAccount
from chalicelib.comments.people.rows import PEOPLE, new_person
from chalicelib.mail import addressing
from tests.comments.support.guests import COMMENTS, NODE, SITE, GuestSite
from tests.support.http_client import Client, Reply

JOINED = f"{SITE}/people/me/joined"
ANN, EVE = f"p_{'a' * 22}", f"p_{'e' * 22}"


def address_key(site: GuestSite, address: str) -> str:
    return addressing.address_keys(address, site.runtime.settings.signing_keys)[0]


def account(site: GuestSite, user: str = ANN, name: str = "Ann", email: str = "") -> Client:
    """Return who has signed in by a provider, with a verified address if it names one."""
    row: Any = new_person("blog", user, name)
    if email:
        row["email_key"] = address_key(site, email)
    PEOPLE.of(site.runtime.database).replace_one({"_id": row["_id"]}, row, upsert=True)
    expires = site.clock.time.replace(microsecond=0) + timedelta(days=90)
    made = SiteAccount(user, name, None, "blog", expires)
    return site.holding(account_tokens.issue(made, site.runtime.settings.signing_keys))


def token_of(guest: Client) -> str:
    return guest.headers["Authorization"].removeprefix("Bearer ")


def join(reader: Client, guest: Client) -> Reply:
    """Join the past of a guest, whose token the reader has."""
    return reader.post(JOINED, token=token_of(guest))


def id_of(client: Client) -> str:
    return str(client.get("/me").json["id"])


def posted(client: Client, text: str = "A fine evening", **body: Any) -> str:
    reply = client.post(COMMENTS, text=text, **body)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def vote(client: Client, comment: str, value: int = 1) -> None:
    reply = client.put(f"{COMMENTS}/{comment}/vote", value=value)
    assert reply.status == 200, reply.body


def votes_of(site: GuestSite, comment: str) -> dict[str, int]:
    found = site.client.get(f"{NODE}/marks?ids={comment}").json["comments"][comment]
    return dict(found["votes"])


def authors(site: GuestSite) -> list[tuple[str, str]]:
    """Return the authors of the comments that anybody reads, with the names shown."""
    found = site.client.get(COMMENTS).json["comments"]
    return [(each["author"]["id"], each["author"]["name"]) for each in found]


def person(site: GuestSite, user: str) -> Any:
    return PEOPLE.of(site.runtime.database).find_one({"_id": f"blog/{user}"})
