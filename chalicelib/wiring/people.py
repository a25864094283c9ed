"""The features with personal data, in one list, with the routes and the worker over them."""

from functools import partial
from typing import Any

from chalice.app import Blueprint, Chalice, SQSEvent

from chalicelib.analytics import personal_data as analytics
from chalicelib.assets import own
from chalicelib.comments import notifications as comment_notifications
from chalicelib.comments import personal_data as comments_personal_data
from chalicelib.comments import webhooks as comment_webhooks
from chalicelib.comments.discussion import reading
from chalicelib.comments.joining import carrying
from chalicelib.comments.people import claims
from chalicelib.content import personal_data as content_personal_data
from chalicelib.happenings import Happened
from chalicelib.messaging import consume
from chalicelib.notifications import changes as changes_of_pages
from chalicelib.notifications import personal_data as notifications
from chalicelib.notifications import routes as notification_routes
from chalicelib.notifications.changes import Reads
from chalicelib.notifications.events import Notify
from chalicelib.people import blocks, jobs
from chalicelib.people import routes as people_routes
from chalicelib.people.follows import People
from chalicelib.people.jobs import Erase, EraseLate, Join, PersonJob, Rename
from chalicelib.runtime import Runtime
from chalicelib.shop.orders import personal_data as shop_personal_data
from chalicelib.social import jobs as social_jobs
from chalicelib.social import messages, personal_data
from chalicelib.social.activity import personal_data as activity
from chalicelib.social.graph import users
from chalicelib.social.messages import SocialJob
from chalicelib.social.timelines import news
from chalicelib.wiring import happenings
from chalicelib.wiring.marks import marks

# The social feed comes last of the features: it deletes the document with the person's name. The
# blocks come after it, since it copies them.
PEOPLE = People(
    name_of=users.name_of,
    join=carrying.carry,
    features=(
        comments_personal_data,
        content_personal_data,
        own,
        analytics,
        shop_personal_data,
        marks,
        notifications,
        activity,
        personal_data,
        blocks,
    ),
    kept=(*comments_personal_data.KEPT, *analytics.KEPT),
)


def routes(runtime: Runtime) -> Blueprint:
    """Return the blueprint of erasure and export."""
    return people_routes.routes(runtime, PEOPLE)


def inboxes(runtime: Runtime) -> Blueprint:
    """Return the blueprint of inboxes, which show comments."""
    return notification_routes.routes(runtime, comment_notifications.show, claims.verified_keys)


def changes(runtime: Runtime) -> Blueprint:
    """Return the blueprint of changes of discussions, news and inboxes."""
    return changes_of_pages.routes(runtime, Reads(reading.read_versions, news.newest_id))


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the worker of background jobs of people and of the social feed."""
    queue, do = runtime.queues.name_of(Rename.queue), partial(run, runtime)

    @app.on_sqs_message(queue=queue, batch_size=1)
    def social_errands(event: SQSEvent) -> dict[str, Any]:
        return consume(event.to_dict(), messages.JOB, do)


def run(runtime: Runtime, job: PersonJob | SocialJob | Happened | Notify) -> None:
    """Do a job that is still noted, or tell of a comment; a failure leaves it for a sweep."""
    match job:
        case Rename() | Erase() | EraseLate() | Join():
            jobs.run(runtime, PEOPLE, job)
        case Happened():
            happenings.run(runtime, job)
        case Notify():
            comment_notifications.run(runtime, job)
            comment_webhooks.run(runtime, job)
        case _:
            social_jobs.handle(runtime, job)
