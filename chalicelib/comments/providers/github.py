"""Sign-ins by GitHub: OAuth 2.0 without an ID token, so GitHub's API returns the person.

Source: GitHub's documentation, "Authorizing OAuth apps" and "REST API endpoints for users".
"""

from chalicelib.comments.providers.asking import (
    Exchange,
    Profile,
    ProviderFailed,
    get,
    tokens_of,
)
from chalicelib.comments.providers.forms import GITHUB
from chalicelib.runtime import Runtime

AUTHORIZE = "https://github.com/login/oauth/authorize"
TOKEN = "https://github.com/login/oauth/access_token"  # noqa: S105 - an address, and no secret
API = "https://api.github.com"
# Reads the addresses; the rest of a profile is public.
SCOPE = "user:email"


def sign_in(runtime: Runtime, given: Exchange) -> Profile:
    """Exchange a code, and return the person's profile; raises ProviderFailed.

    To a bad code, GitHub answers 200 with an error in place of the access token.
    """
    is_near = runtime.settings.is_local
    bearer = tokens_of(TOKEN, given, is_basic=False, is_near=is_near)["access_token"]
    user = get(f"{API}/user", is_near=is_near, bearer=bearer)
    # A login can change hands; the number stays with its account.
    if not isinstance(user, dict) or type(user.get("id")) is not int:
        raise ProviderFailed("GitHub names no account")
    names = (user.get("name"), user.get("login"))
    email = _primary(get(f"{API}/user/emails", is_near=is_near, bearer=bearer))
    return Profile(GITHUB, str(user["id"]), names, user.get("avatar_url"), email)


def _primary(found: object) -> str | None:
    """Return the primary address; None: GitHub names none, or has not verified it."""
    for each in found if isinstance(found, list) else []:
        if isinstance(each, dict) and each.get("primary") is True and each.get("verified") is True:
            email = each.get("email")
            return email if isinstance(email, str) else None
    return None
