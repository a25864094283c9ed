"""The worker of the queue `social-errands`: jobs of people, social feed, happenings, comments."""

from functools import partial
from typing import Any

from chalicelib.comments import notifications as comment_notifications
from chalicelib.comments import webhooks as comment_webhooks
from chalicelib.happenings import Happened
from chalicelib.messaging import consume
from chalicelib.notifications.events import Notify
from chalicelib.people import jobs
from chalicelib.people.jobs import Erase, EraseLate, Join, PersonJob, Rename
from chalicelib.runtime import Runtime
from chalicelib.social import jobs as social_jobs
from chalicelib.social import messages
from chalicelib.social.messages import SocialJob
from chalicelib.wiring import happenings
from chalicelib.wiring.people import PEOPLE


def run_errands(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Do background jobs of people and of the social feed."""
    return consume(event, messages.JOB, partial(run, runtime))


def run(runtime: Runtime, job: PersonJob | SocialJob | Happened | Notify) -> None:
    """Run a job by its type; after a failure, a sweep sends its message again."""
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
