"""The blueprint of the social feed."""

from chalice.app import Blueprint

from chalicelib.http import router
from chalicelib.runtime import Runtime
from chalicelib.social.activity import routes as activity
from chalicelib.social.graph import routes as graph
from chalicelib.social.posts import routes as posts
from chalicelib.social.posts.types import check_allowed
from chalicelib.social.timelines import routes as timelines


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of people, posts, walls, news and the activity feed.

    Raises InvalidSettings for an unknown type in PLAZA_POST_TYPES.
    """
    # By now, the application has registered its own post types.
    check_allowed(runtime.settings.post_types)
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Social")
    for room in (graph, posts, timelines):
        room.declare(route)
    activity.declare(router(blueprint, runtime, "Feed"))
    return blueprint
