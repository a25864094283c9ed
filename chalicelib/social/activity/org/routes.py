"""The API of places in the organisation, for admins, and of mutes."""

from chalicelib.http import NoContent, Ok, Request, Route
from chalicelib.http.callers import Admin
from chalicelib.identity import Principal
from chalicelib.people.ids import UserId
from chalicelib.social.activity.org import muting, people
from chalicelib.social.activity.org.forms import MutedAnswer, OrgAnswer, OrgSettings, org_answer
from chalicelib.social.errors import CannotMuteSelf, OwnManager, TooManyMuted


def declare(route: Route) -> None:
    """Declare the routes of people's places in the organisation, and of mutes."""
    _add_mutes(route)
    _add_places(route)


def _add_mutes(route: Route) -> None:
    @route("PUT", "/users/me/muted/{user}", raises=(CannotMuteSelf, TooManyMuted))
    def mute_user(request: Request, user: UserId, caller: Principal) -> NoContent:
        """Mute a user: leave their actions out of your feed.

        The user does not learn of it, and need not exist yet. Listings by ref and by tag still
        show their actions. A second call changes nothing.
        """
        muting.mute(request.runtime, caller.id, user)
        return NoContent()

    @route("DELETE", "/users/me/muted/{user}")
    def unmute_user(request: Request, user: UserId, caller: Principal) -> NoContent:
        """Unmute a user.

        A worker adds their actions to your feed again, also the actions since the muting.
        """
        muting.unmute(request.runtime, caller.id, user)
        return NoContent()

    @route("GET", "/users/me/muted")
    def list_muted_users(request: Request, caller: Principal) -> Ok[MutedAnswer]:
        """List the users that you muted."""
        person = people.find(request.runtime.database, caller.id)
        return Ok({"user_ids": sorted(person["muted"])})


def _add_places(route: Route) -> None:
    """Add people's places: an admin sets and reads them, and everyone reads their own."""

    @route("PUT", "/users/{user}/org", raises=(OwnManager,))
    def put_user_org(
        request: Request, user: UserId, admin: Admin, body: OrgSettings
    ) -> Ok[OrgAnswer]:
        """Set a user's place in the organisation.

        A worker adds the actions of the new place to the user's feed, and removes the actions of
        the old place. Events keep their rank by the places of their time.
        """
        del admin
        return Ok(org_answer(people.put(request.runtime, user, body)))

    @route("GET", "/users/{user}/org")
    def get_user_org(request: Request, user: UserId, admin: Admin) -> Ok[OrgAnswer]:
        """Read a user's place in the organisation."""
        del admin
        return Ok(org_answer(people.find(request.runtime.database, user)))

    @route("GET", "/users/me/org")
    def get_my_org(request: Request, caller: Principal) -> Ok[OrgAnswer]:
        """Read your place in the organisation."""
        return Ok(org_answer(people.find(request.runtime.database, caller.id)))
