"""The access matrix: every route, and what it answers to every kind of caller.

`expected` maps a status to those who get it, by the names and groups of `callers.py`; `*` are all
others. Names in braces come from the world, or are made anew for each caller by `made`, so that
what one caller changes or deletes is there for the next. The rows of a feature stand in `rows/`.
"""

from tests.security.support.rows.activity import ACTIVITY
from tests.security.support.rows.ads import ADS
from tests.security.support.rows.analytics import ANALYTICS
from tests.security.support.rows.assets import ASSETS
from tests.security.support.rows.comments import COMMENTS
from tests.security.support.rows.content import CONTENT
from tests.security.support.rows.mail import MAIL
from tests.security.support.rows.notifications import NOTIFICATIONS
from tests.security.support.rows.orders import ORDERS
from tests.security.support.rows.shop import SHOP
from tests.security.support.rows.social import SOCIAL
from tests.security.support.rows.webhooks import WEBHOOKS

FEATURES = {
    "assets": ASSETS,
    "comments": COMMENTS,
    "ads": ADS,
    "social": SOCIAL,
    "activity": ACTIVITY,
    "content": CONTENT,
    "shop": SHOP,
    "orders": ORDERS,
    "analytics": ANALYTICS,
    "mail": MAIL,
    "notifications": NOTIFICATIONS,
    "webhooks": WEBHOOKS,
}
