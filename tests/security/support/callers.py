"""Every kind of caller that the access matrix tells apart."""

from typing import Any

from tests.support.http_client import Client

OWN_SITE, OTHER_SITE = "alpha", "beta"
OWN_ADVERTISER, OTHER_ADVERTISER = "acme", "globex"

# Ann owns what the world holds: comments, posts, actions. Peer is in her circle, she has blocked
# the blocked one, and a stranger is nobody to her. What else they are is in their tokens.
CALLERS: dict[str, tuple[str, dict[str, Any]] | None] = {
    "anonymous": None,
    "stranger": ("stranger", {}),
    "peer": ("peer", {}),
    "owner": ("ann", {}),
    "blocked": ("blocked", {}),
    "moderator_other": ("mo-other", {"roles": ["moderator"], "sites": [OTHER_SITE]}),
    "moderator_own": ("mo-own", {"roles": ["moderator"], "sites": [OWN_SITE]}),
    "moderator_none": ("mo-none", {"roles": ["moderator"], "sites": []}),
    "moderator_all": ("mo-all", {"roles": ["moderator"]}),
    "social_moderator": ("mo-social", {"roles": ["social_moderator"]}),
    "publisher_other": ("pub-other", {"roles": ["publisher"], "sites": [OTHER_SITE]}),
    "publisher_own": ("pub-own", {"roles": ["publisher"], "sites": [OWN_SITE]}),
    "editor_other": ("ed-other", {"roles": ["editor"], "sites": [OTHER_SITE]}),
    "editor_own": ("ed-own", {"roles": ["editor"], "sites": [OWN_SITE]}),
    "advertiser_other": ("adv-other", {"roles": ["advertiser"], "advertiser": OTHER_ADVERTISER}),
    "advertiser_own": ("adv-own", {"roles": ["advertiser"], "advertiser": OWN_ADVERTISER}),
    "advertiser_none": ("adv-none", {"roles": ["advertiser"]}),
    "application": ("app", {"roles": ["application"]}),
    "admin": ("root", {"roles": ["admin"]}),
}
# Names of several callers at once, for the rows of the matrix.
GROUPS = {
    "staff_of_comments": "moderator_own moderator_all publisher_own admin",
    "managers_of_the_site": "moderator_own moderator_all publisher_own admin",
    "owners_of_the_site": "publisher_own admin",
    "writers_of_the_site": "publisher_own editor_own admin",
    "owners_of_the_campaign": "advertiser_own admin",
    "staff_of_social": "social_moderator admin",
}


def client_of(client: Client, caller: str) -> Client:
    """Return a client that calls as one of the callers."""
    identity = CALLERS[caller]
    if identity is None:
        return client
    sub, claims = identity
    return client.as_(sub, **claims)


def named(text: str) -> list[str]:
    """Return the callers that a text names, one by one or by their group."""
    names = [name for word in text.split() for name in GROUPS.get(word, word).split()]
    assert set(names) <= set(CALLERS), f"no such callers: {set(names) - set(CALLERS)}"
    return names
