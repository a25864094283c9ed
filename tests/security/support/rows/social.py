"""What the matrix says of the social feed's routes."""

from tests.security.support import world as worlds
from tests.security.support.row import Row

SOCIAL = (
    Row("PUT /users/me", {401: "anonymous", 200: "*"}, body={}),
    Row("GET /users/me", {401: "anonymous", 200: "*"}),
    Row("GET /users/{user}", {200: "*"}),
    Row("GET /users/me/erasure", {401: "anonymous", 200: "*"}),
    Row("GET /users/me/followers", {401: "anonymous", 200: "*"}),
    Row("GET /users/{user}/followers", {401: "anonymous", 200: "*"}),
    Row("GET /users/me/circles", {401: "anonymous", 200: "*"}),
    Row(
        "PUT /users/me/circles/{circle}",
        {401: "anonymous", 201: "*"},
        body={"name": "New"},
        path={"circle": "new"},
    ),
    Row(
        "DELETE /users/me/circles/{circle}",
        {401: "anonymous", 204: "*"},
        made=worlds.circle_of_caller,
    ),
    Row(
        "GET /users/me/circles/{circle}/members",
        {401: "anonymous", 200: "*"},
        made=worlds.circle_of_caller,
    ),
    Row(
        "PUT /users/me/circles/{circle}/members/{user}",
        {401: "anonymous", 422: "stranger", 204: "*"},
        made=worlds.circle_of_caller,
        path={"user": "stranger"},
    ),
    Row(
        "DELETE /users/me/circles/{circle}/members/{user}",
        {401: "anonymous", 204: "*"},
        made=worlds.circle_of_caller,
        path={"user": "stranger"},
    ),
    Row("PUT /users/me/blocked/{user}", {401: "anonymous", 404: "*"}, path={"user": "nobody-yet"}),
    Row(
        "DELETE /users/me/blocked/{user}", {401: "anonymous", 204: "*"}, path={"user": "nobody-yet"}
    ),
    Row(
        "POST /posts",
        {401: "anonymous", 201: "*"},
        "public",
        {"type": "status", "detail": {"text": "Hello"}, "circles": ["*public*"]},
    ),
    Row(
        "POST /posts",
        {401: "anonymous", 201: "*"},
        "on the owner's wall",
        {
            "type": "status",
            "detail": {"text": "Hello"},
            "circles": ["*public*"],
            "wall_owner_id": "ann",
        },
    ),
    Row(
        "POST /posts",
        {201: "owner", 401: "anonymous", 404: "*"},
        "to the owner's circle",
        {"type": "status", "detail": {"text": "Hello"}, "circles": ["club"]},
    ),
    Row("GET /posts/{post}", {404: "blocked", 200: "*"}, "public"),
    Row(
        "GET /posts/{post}",
        {200: "staff_of_social peer owner", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row(
        "PATCH /posts/{post}",
        {200: "owner", 401: "anonymous", 404: "blocked", 403: "*"},
        "public",
        {"detail": {"text": "No"}},
        made=worlds.post,
    ),
    Row(
        "PATCH /posts/{post}",
        {200: "owner", 401: "anonymous", 403: "peer", 404: "*"},
        "to a circle",
        {"detail": {"text": "No"}},
        made=worlds.circle_post,
    ),
    Row(
        "DELETE /posts/{post}",
        {204: "staff_of_social owner", 401: "anonymous", 404: "blocked", 403: "*"},
        "public",
        made=worlds.post,
    ),
    Row(
        "DELETE /posts/{post}",
        {204: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row(
        "GET /posts/{post}/fan-out",
        {200: "staff_of_social owner", 401: "anonymous", 404: "blocked", 403: "*"},
        "public",
    ),
    Row(
        "GET /posts/{post}/fan-out",
        {200: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row(
        "POST /posts/{post}/fan-out", {401: "anonymous", 409: "staff_of_social", 403: "*"}, body={}
    ),
    Row("GET /fan-outs/failed-posts", {200: "staff_of_social", 401: "anonymous", 403: "*"}),
    Row(
        "POST /posts/{post}/comments",
        {401: "anonymous", 404: "blocked", 201: "*"},
        "public",
        {"text": "Yes"},
    ),
    Row(
        "POST /posts/{post}/comments",
        {201: "peer owner", 401: "anonymous", 404: "*"},
        "to a circle",
        {"text": "Yes"},
        made=worlds.circle_post,
    ),
    Row("GET /posts/{post}/comments", {404: "blocked", 200: "*"}, "public"),
    Row(
        "GET /posts/{post}/comments",
        {200: "peer owner", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row(
        "PUT /posts/{post}/vote",
        {401: "anonymous", 404: "blocked", 200: "*"},
        "public",
        {"option": "Yes"},
        made=worlds.poll,
    ),
    Row(
        "PUT /posts/{post}/vote",
        {200: "peer owner", 401: "anonymous", 404: "*"},
        "to a circle",
        {"option": "Yes"},
        made=worlds.circle_poll,
    ),
    Row(
        "DELETE /posts/{post}/vote",
        {401: "anonymous", 404: "blocked", 204: "*"},
        "public",
        made=worlds.poll,
    ),
    Row(
        "PUT /posts/{post}/reactions/{kind}",
        {401: "anonymous", 404: "blocked", 200: "*"},
        "public",
        made=worlds.post,
    ),
    Row(
        "PUT /posts/{post}/reactions/{kind}",
        {200: "peer owner", 401: "anonymous", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row(
        "DELETE /posts/{post}/reactions/{kind}",
        {401: "anonymous", 404: "blocked", 204: "*"},
        "public",
        made=worlds.post,
    ),
    Row(
        "DELETE /posts/{post}/reactions/{kind}",
        {204: "peer owner", 401: "anonymous", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row("GET /users/me/wall", {401: "anonymous", 200: "*"}),
    Row(
        "DELETE /users/me/wall/{post}",
        {204: "owner", 401: "anonymous", 404: "*"},
        "of a stranger on the owner's wall",
        made=worlds.wall_post,
    ),
    Row("GET /users/{user}/wall", {200: "*"}),
    Row("GET /users/me/news", {401: "anonymous", 200: "*"}),
    Row("GET /users/me/incoming", {401: "anonymous", 200: "*"}),
    Row("GET /users/me/export", {401: "anonymous", 200: "*"}),
    Row("DELETE /users/me", {401: "anonymous", 202: "*"}),
)
