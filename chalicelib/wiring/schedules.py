"""The functions that the clock calls, each with the schedules that it runs.

A schedule shares its function with those that need its rights and no others: docs/decisions/0220.
"""

from chalicelib.ads import jobs as ads
from chalicelib.analytics import jobs as analytics
from chalicelib.assets import jobs as assets
from chalicelib.comments import jobs as comments
from chalicelib.content import jobs as content
from chalicelib.jobs.schedules import Functions
from chalicelib.mail import jobs as mail
from chalicelib.marks import jobs as marks
from chalicelib.shop import jobs as shop
from chalicelib.social import jobs as social
from chalicelib.webhooks import jobs as webhooks

FUNCTIONS: Functions = {
    "ads_schedules": ads.SCHEDULES,
    "analytics_schedules": analytics.SCHEDULES,
    "assets_schedules": assets.SCHEDULES,
    "comments_schedules": comments.SCHEDULES,
    "content_schedules": content.SCHEDULES,
    "shop_schedules": shop.SCHEDULES,
    # Each of these sends overdue messages again, every minute.
    "social_schedules": (
        *social.SCHEDULES,
        *marks.SCHEDULES,
        *mail.SCHEDULES,
        *webhooks.SCHEDULES,
    ),
}
