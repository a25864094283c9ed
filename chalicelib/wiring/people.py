"""The features with personal data, in one list."""

from datetime import datetime

from chalicelib.ads.campaigns import personal_data as campaigns
from chalicelib.analytics import personal_data as analytics
from chalicelib.assets import own
from chalicelib.comments import personal_data as comments_personal_data
from chalicelib.comments import traces as comments_traces
from chalicelib.comments.joining import carrying
from chalicelib.comments.joining.carrying import ClaimedPast
from chalicelib.comments.people import guests
from chalicelib.content import personal_data as content_personal_data
from chalicelib.content.shapes import Writer
from chalicelib.notifications import personal_data as notifications
from chalicelib.people import blocks
from chalicelib.people.features import People, Step
from chalicelib.people.ids import IMPORTED_ID
from chalicelib.runtime import Runtime
from chalicelib.shop.orders import personal_data as shop_personal_data
from chalicelib.social import personal_data
from chalicelib.social.activity import personal_data as activity
from chalicelib.social.graph import users
from chalicelib.webhooks import personal_data as webhooks
from chalicelib.wiring.marks import marks


class _Comments:
    """The comments, with the pages of imported people whom an account has claimed."""

    traces = staticmethod(comments_traces.find)
    rename = staticmethod(comments_personal_data.rename)

    @staticmethod
    def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
        """Transfer the pages of claimed people to the account, then erase the account's comments.

        In this order: the erasure deletes the rows of the claimed people, the only link from the
        account to these pages.
        """
        for past in carrying.pasts_of(runtime.database, user_id):
            _give_pages(runtime, past)
        return comments_personal_data.erase(runtime, user_id, until)


def _join(runtime: Runtime, site: str, person: str) -> None:
    """Carry the past of a claimed person, with the pages, to the account; no claim: do nothing."""
    if past := carrying.past_of(runtime.database, site, person):
        carrying.carry(runtime, past)
        _give_pages(runtime, past)


def _give_pages(runtime: Runtime, past: ClaimedPast) -> None:
    """Set the account as the author of an imported person's pages; a guest has no pages."""
    if IMPORTED_ID.fullmatch(past.person):
        to: Writer = {"id": past.account, "name": past.name}
        content_personal_data.give(runtime.database, past.site, past.person, to)


# The social feed comes after the other features, since it deletes the document with the person's
# name. Blocks come after the feed, since it copies them.
PEOPLE = People(
    name_of=users.name_of,
    join=_join,
    check_token=guests.check_token,
    features=(
        _Comments(),
        content_personal_data,
        own,
        analytics,
        shop_personal_data,
        marks,
        notifications,
        webhooks,
        campaigns,
        activity,
        personal_data,
        blocks,
    ),
    kept=(*comments_traces.KEPT, *analytics.KEPT),
)
