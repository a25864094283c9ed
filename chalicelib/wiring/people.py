"""The features with personal data, in one list."""

from chalicelib.ads.campaigns import personal_data as campaigns
from chalicelib.analytics import personal_data as analytics
from chalicelib.assets import own
from chalicelib.comments import personal_data as comments_personal_data
from chalicelib.comments.joining import carrying
from chalicelib.comments.people import guests
from chalicelib.content import personal_data as content_personal_data
from chalicelib.notifications import personal_data as notifications
from chalicelib.people import blocks
from chalicelib.people.follows import People
from chalicelib.shop.orders import personal_data as shop_personal_data
from chalicelib.social import personal_data
from chalicelib.social.activity import personal_data as activity
from chalicelib.social.graph import users
from chalicelib.webhooks import personal_data as webhooks
from chalicelib.wiring.marks import marks

# The social feed comes last of the features: it deletes the document with the person's name. The
# blocks come after it, since it copies them.
PEOPLE = People(
    name_of=users.name_of,
    join=carrying.carry,
    check_token=guests.check_token,
    features=(
        comments_personal_data,
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
    kept=(*comments_personal_data.KEPT, *analytics.KEPT),
)
