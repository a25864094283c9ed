"""What the matrix says of the routes of activity."""

from tests.security.support import world as worlds
from tests.security.support.row import Row

ACTIVITY = (
    Row(
        "POST /actions",
        {201: "peer owner", 401: "anonymous", 409: "*"},
        "of oneself",
        worlds.action_body(),
    ),
    Row(
        "POST /actions",
        {201: "owner", 401: "anonymous", 409: "application admin", 403: "*"},
        "of another",
        {
            "scope": "team",
            "descriptor": {
                "type": "application_rating",
                "rater_id": "ann",
                "rating_score": 1,
                "applicant_id": "thing:one",
                "applicant_name": "One",
                "position_id": "thing:two",
                "position_name": "Two",
                "tags": [],
            },
        },
    ),
    Row("GET /actions/{action}", {200: "staff_of_social peer owner", 401: "anonymous", 404: "*"}),
    Row(
        "GET /actions/{action}",
        {200: "staff_of_social owner", 401: "anonymous", 404: "*"},
        "hidden",
        made=worlds.hidden_action,
    ),
    Row(
        "PUT /actions/{action}/hidden",
        {204: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
        "hide",
        {"is_hidden": True},
        made=worlds.action,
    ),
    Row(
        "PUT /actions/{action}/hidden",
        {204: "staff_of_social", 401: "anonymous", 403: "owner", 404: "*"},
        "show what staff hid",
        {"is_hidden": False},
        made=worlds.hidden_action,
    ),
    Row(
        "DELETE /actions/{action}",
        {204: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
        made=worlds.action,
    ),
    Row(
        "POST /actions/{action}/comments",
        {201: "peer owner", 401: "anonymous", 404: "*"},
        body={"text": "Yes"},
    ),
    Row(
        "GET /actions/{action}/comments",
        {200: "staff_of_social peer owner", 401: "anonymous", 404: "*"},
    ),
    Row(
        "DELETE /actions/{action}/comments/{comment}",
        {204: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
        made=worlds.action_comment,
    ),
    Row(
        "PUT /actions/{action}/reaction",
        {204: "peer owner", 401: "anonymous", 404: "*"},
        body={"kind": "like"},
    ),
    Row("DELETE /actions/{action}/reaction", {204: "peer owner", 401: "anonymous", 404: "*"}),
    Row("GET /actions/{action}/reactions", {200: "peer owner", 401: "anonymous", 404: "*"}),
    Row(
        "GET /actions/{action}/fan-out",
        {200: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
    ),
    Row(
        "POST /actions/{action}/fan-out",
        {401: "anonymous", 409: "staff_of_social", 403: "*"},
        body={},
    ),
    Row("GET /fan-outs/failed-actions", {200: "staff_of_social", 401: "anonymous", 403: "*"}),
    Row("GET /feed", {401: "anonymous", 200: "*"}),
    Row("GET /feed/unread", {401: "anonymous", 200: "*"}),
    Row("PUT /feed/seen", {401: "anonymous", 204: "*"}, body={}),
    Row("GET /refs/{ref}/actions", {401: "anonymous", 200: "*"}),
    Row("GET /tags/{tag}/actions", {401: "anonymous", 200: "*"}),
    Row(
        "GET /users/{user}/actions", {401: "anonymous", 200: "*"}, query="?type=application_rating"
    ),
    Row("GET /users/me/actions", {401: "anonymous", 200: "*"}, query="?type=new_applicant"),
    Row("PUT /refs/{ref}", {204: "admin", 401: "anonymous", 403: "*"}, body={"name": "One"}),
    Row("PUT /users/me/muted/{user}", {401: "anonymous", 204: "*"}, path={"user": "somebody"}),
    Row("DELETE /users/me/muted/{user}", {401: "anonymous", 204: "*"}, path={"user": "somebody"}),
    Row("GET /users/me/muted", {401: "anonymous", 200: "*"}),
    Row(
        "PUT /users/{user}/org",
        {200: "admin", 401: "anonymous", 403: "*"},
        body={"team": "red", "department": "colours"},
    ),
    Row("GET /users/{user}/org", {200: "admin", 401: "anonymous", 403: "*"}),
    Row("GET /users/me/org", {401: "anonymous", 200: "*"}),
)
