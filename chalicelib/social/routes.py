"""The routes of the social feed, room by room."""

from chalice.app import Blueprint

from chalicelib.http import router
from chalicelib.runtime import Runtime
from chalicelib.social.activity import routes as activity
from chalicelib.social.graph import routes as graph
from chalicelib.social.personal_data import routes as personal_data
from chalicelib.social.posts import routes as posts
from chalicelib.social.timelines import routes as timelines


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of people, posts, walls, news and the activity feed."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)
    for room in (graph, personal_data, posts, timelines, activity):
        room.declare(route)
    return blueprint
