"""What the matrix says of the routes of comments, of pages and of the API itself."""

from tests.comments.transfers.support.files import lines_file
from tests.security.support import world as worlds
from tests.security.support.row import Row

PAGE = {"title": "Page", "url": "https://alpha.example/"}
_PUBLISHER = "owners_of_the_site"
_TRANSFERS = (
    Row(
        "POST /sites/{site}/imports",
        {201: _PUBLISHER, 401: "anonymous", 403: "*"},
        body={"length": 5},
        made=worlds.no_import,
    ),
    Row(
        "PUT /sites/{site}/imports/{transfer}/parts/{number}",
        {204: _PUBLISHER, 401: "anonymous", 403: "*"},
        data=lines_file(1),
        made=worlds.upload_of_import,
    ),
    Row(
        "POST /sites/{site}/imports/{transfer}/start",
        {202: _PUBLISHER, 401: "anonymous", 403: "*"},
        made=worlds.upload_of_import,
    ),
    Row(
        "POST /sites/{site}/imports/{transfer}/apply",
        {202: _PUBLISHER, 401: "anonymous", 403: "*"},
        made=worlds.tried_import,
    ),
    Row(
        "DELETE /sites/{site}/imports/{transfer}",
        {202: _PUBLISHER, 401: "anonymous", 403: "*"},
        made=worlds.upload_of_import,
    ),
    Row("GET /sites/{site}/imports", {200: _PUBLISHER, 401: "anonymous", 403: "*"}),
    Row(
        "GET /sites/{site}/imports/{transfer}",
        {200: _PUBLISHER, 401: "anonymous", 403: "*"},
        made=worlds.upload_of_import,
    ),
    Row(
        "POST /sites/{site}/exports",
        {202: _PUBLISHER, 401: "anonymous", 403: "*"},
        body={"format": "plaza"},
        made=worlds.no_import,
    ),
    Row("GET /sites/{site}/exports", {200: _PUBLISHER, 401: "anonymous", 403: "*"}),
    Row(
        "GET /sites/{site}/exports/{transfer}",
        {200: _PUBLISHER, 401: "anonymous", 403: "*"},
        made=worlds.export,
    ),
    Row(
        "GET /sites/{site}/exports/{transfer}/files/{number}/pieces/{piece}",
        {200: _PUBLISHER, 401: "anonymous", 403: "*"},
        made=worlds.export,
    ),
)
COMMENTS = (
    *_TRANSFERS,
    Row("GET /health", {200: "*"}),
    Row("GET /openapi.json", {200: "*"}),
    Row("GET /me", {401: "anonymous", 200: "*"}),
    Row("GET /", {200: "*"}),
    Row("GET /web/{version}/{file}", {200: "*"}, path={"version": "v1", "file": "plaza.js"}),
    Row("GET /console", {200: "*"}),
    Row("GET /console/{file}", {200: "*"}, path={"file": "console.js"}),
    Row("GET /docs", {200: "*"}),
    Row("GET /docs/{file}", {200: "*"}),
    Row(
        "PUT /nodes/{node}",
        {201: "managers_of_the_site", 401: "anonymous", 403: "*"},
        "new",
        PAGE,
        made=worlds.new_node,
    ),
    Row(
        "PUT /nodes/{node}",
        {200: "managers_of_the_site", 401: "anonymous", 403: "*"},
        "existing",
        PAGE,
    ),
    Row("GET /nodes/{node}", {200: "*"}),
    Row("POST /nodes/{node}/visit", {200: "*"}, body=PAGE),
    Row("POST /sites/{site}/guests", {201: "*"}, body={"name": "Ferry passenger"}),
    # Who has the token of a letter's link has read the letter, and nobody else has it.
    Row("GET /sites/{site}/guests/confirmation", {404: "*"}, query=f"?token={'A' * 43}"),
    Row("POST /sites/{site}/guests/confirmation", {404: "*"}, query=f"?token={'A' * 43}"),
    # Of a site whose guests confirm no address.
    Row(
        "POST /sites/{site}/sign-in",
        {403: "*"},
        body={"email": "ann@plaza.example", "return_to": "https://alpha.example/"},
    ),
    Row("POST /sites/{site}/sign-in/token", {403: "*"}, body={"code": "A" * 43}),
    Row("POST /sites/{site}/sign-in/account", {404: "*"}, body={"code": "A" * 43}),
    # A token proves a guest, whoever has it; this one proves nobody.
    Row("GET /sites/{site}/people/me/joined", {200: "*", 401: "anonymous"}),
    Row(
        "POST /sites/{site}/people/me/joined",
        {422: "*", 401: "anonymous"},
        body={"token": "guest.e30.AAAA"},
    ),
    Row(
        "GET /sites/{site}/providers",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
    ),
    *(
        Row(
            f"{method} /sites/{{site}}/providers/{{provider}}",
            {status: "owners_of_the_site", 401: "anonymous", 403: "*"},
            body=body,
            made=worlds.provider,
        )
        for method, status, body in (("PUT", 200, worlds.PROVIDER), ("DELETE", 204, None))
    ),
    # Of a site without this provider, and of a browser that has begun no sign-in.
    Row(
        "GET /sites/{site}/providers/{provider}/sign-in",
        {422: "*"},
        query="?return_to=https://alpha.example/",
        path={"provider": "own"},
    ),
    Row(
        "GET /sites/{site}/providers/{provider}/callback",
        {400: "*"},
        query="?state=a&code=b",
        path={"provider": "own"},
    ),
    Row(
        "PUT /sites/{site}/comments/settings",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body=worlds.COMMENT_SETTINGS,
    ),
    Row(
        "GET /sites/{site}/comments/settings",
        {200: "managers_of_the_site", 401: "anonymous", 403: "*"},
    ),
    Row(
        "PATCH /sites/{site}/comments/settings",
        {200: "managers_of_the_site", 401: "anonymous", 403: "*"},
        "phrases",
        body={"phrases": []},
    ),
    Row(
        "PATCH /sites/{site}/comments/settings",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "votes",
        body={"votes": worlds.COMMENT_SETTINGS["votes"]},
    ),
    Row(
        "DELETE /nodes/{node}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        made=worlds.node,
    ),
    Row(
        "POST /nodes/{node}/move",
        {200: "admin", 401: "anonymous", 403: "*"},
        body={"to": "beta:moved"},
        made=worlds.node,
    ),
    Row("GET /nodes/{node}", {308: "*"}, "moved", made=worlds.moved_node),
    Row(
        "DELETE /nodes/{node}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "moved",
        made=worlds.moved_node,
    ),
    Row("GET /sites/{site}/search", {200: "*"}, query="?q=indeed"),
    Row("GET /nodes", {200: "*"}, query="?site=alpha&url=https://alpha.example/"),
    Row("GET /comment-counts", {200: "*"}, query="?nodes=alpha:page"),
    Row(
        "POST /nodes/{node}/store",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"store": "embedded"},
        made=worlds.node,
    ),
    Row("POST /nodes/{node}/comments", {401: "anonymous", 201: "*"}, body={"text": "Indeed"}),
    Row("POST /preview", {401: "anonymous", 200: "*"}, body={"text": "Indeed"}),
    Row("GET /nodes/{node}/comments", {200: "*"}),
    Row("GET /nodes/{node}/comments/{comment}", {200: "*"}),
    Row(
        "GET /nodes/{node}/comments/{comment}",
        {200: "staff_of_comments owner", 404: "*"},
        "pending",
        made=worlds.pending_comment,
    ),
    Row(
        "GET /nodes/{node}/comments/{comment}",
        {200: "staff_of_comments", 404: "*"},
        "hidden",
        made=worlds.hidden_comment,
    ),
    Row("GET /nodes/{node}/comments/{comment}/thread", {200: "*"}),
    Row(
        "GET /nodes/{node}/comments/{comment}/thread",
        {200: "staff_of_comments owner", 404: "*"},
        "pending",
        made=worlds.pending_comment,
    ),
    Row("GET /nodes/{node}/marks", {200: "*"}, query="?ids=gone"),
    Row("GET /nodes/{node}/people", {401: "anonymous", 200: "*"}, query="?q=o"),
    Row("GET /sites/{site}/comments", {200: "*"}),
    Row("GET /sites/{site}/comments.atom", {200: "*"}),
    Row("GET /sites/{site}/discussions.xml", {200: "*"}),
    Row("GET /sites/{site}/discussed", {200: "*"}),
    Row("GET /nodes/{node}/comments.atom", {200: "*"}),
    Row("GET /nodes/{node}/comments/{comment}/thread.atom", {200: "*"}),
    Row(
        "GET /nodes/{node}/comments/{comment}/thread.atom",
        {404: "*"},
        "pending",
        made=worlds.pending_comment,
    ),
    Row("GET /sites/{site}/people/{user}/comments", {200: "*"}),
    Row("GET /sites/{site}/people/{user}/comments.atom", {200: "*"}),
    Row("GET /sites/{site}/people/{user}/avatar", {200: "*"}),
    Row("GET /sites/{site}/blocked", {401: "anonymous", 200: "*"}),
    Row(
        "PUT /sites/{site}/blocked/{user}",
        {401: "anonymous", 204: "*"},
        path={"user": "nobody"},
    ),
    Row(
        "DELETE /sites/{site}/blocked/{user}",
        {401: "anonymous", 204: "*"},
        path={"user": "nobody"},
    ),
    Row(
        "GET /sites/{site}/people/{user}",
        {200: "staff_of_comments owner", 401: "anonymous", 403: "*"},
    ),
    Row(
        "PATCH /sites/{site}/people/{user}",
        {200: "staff_of_comments", 401: "anonymous", 403: "*"},
        body={"badges": ["Helper"]},
    ),
    Row(
        "DELETE /sites/{site}/people/{user}",
        {202: "owners_of_the_site", 401: "anonymous", 403: "*"},
        path={"user": f"g_{'x' * 22}"},
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/vote",
        {401: "anonymous", 403: "owner", 200: "*"},
        body={"value": 1},
        made=worlds.comment,
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/vote",
        {401: "anonymous", 404: "*"},
        "hidden",
        body={"value": 1},
        made=worlds.hidden_comment,
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/reactions/{key}",
        {401: "anonymous", 200: "*"},
        made=worlds.comment,
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/reactions/{key}",
        {401: "anonymous", 404: "*"},
        "pending",
        made=worlds.pending_comment,
    ),
    Row(
        "DELETE /nodes/{node}/comments/{comment}/reactions/{key}",
        {401: "anonymous", 200: "*"},
        made=worlds.comment,
    ),
    Row(
        "GET /nodes/{node}/comments/{comment}/reactions/{key}",
        {401: "anonymous", 200: "*"},
        made=worlds.comment,
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/flag",
        {401: "anonymous", 403: "owner", 204: "*"},
        body={"reason": "spam", "note": "Again"},
        made=worlds.comment,
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/flag",
        {401: "anonymous", 404: "*"},
        "hidden",
        body={"reason": "spam"},
        made=worlds.hidden_comment,
    ),
    Row(
        "DELETE /nodes/{node}/comments/{comment}/flag",
        {401: "anonymous", 204: "*"},
        made=worlds.comment,
    ),
    Row(
        "GET /nodes/{node}/comments/{comment}/flags",
        {200: "staff_of_comments", 401: "anonymous", 403: "*"},
        made=worlds.comment,
    ),
    Row("GET /nodes/{node}/watch", {401: "anonymous", 200: "*"}),
    Row("PUT /nodes/{node}/watch", {401: "anonymous", 200: "*"}, body={"level": "watching"}),
    Row("DELETE /nodes/{node}/watch", {401: "anonymous", 204: "*"}),
    Row(
        "PUT /nodes/{node}/comments/{comment}/watch",
        {200: "staff_of_comments", 401: "anonymous", 404: "*"},
        "hidden",
        body={"level": "muted"},
        made=worlds.hidden_comment,
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/watch",
        {401: "anonymous", 200: "*"},
        body={"level": "muted"},
        made=worlds.comment,
    ),
    Row(
        "DELETE /nodes/{node}/comments/{comment}/watch",
        {401: "anonymous", 204: "*"},
        made=worlds.comment,
    ),
    Row("GET /watches", {401: "anonymous", 200: "*"}),
    Row("PUT /nodes/{node}/reactions/{key}", {401: "anonymous", 200: "*"}),
    Row("DELETE /nodes/{node}/reactions/{key}", {401: "anonymous", 200: "*"}),
    Row(
        "PATCH /nodes/{node}/comments/{comment}",
        {200: "staff_of_comments owner", 401: "anonymous", 403: "*"},
        body={"text": "No"},
        made=worlds.comment,
    ),
    Row(
        "PATCH /nodes/{node}/comments/{comment}",
        {200: "staff_of_comments owner", 401: "anonymous", 404: "*"},
        "pending",
        {"text": "No"},
        made=worlds.pending_comment,
    ),
    Row(
        "PATCH /nodes/{node}/comments/{comment}",
        {200: "staff_of_comments", 401: "anonymous", 404: "*"},
        "hidden",
        {"text": "No"},
        made=worlds.hidden_comment,
    ),
    Row(
        "DELETE /nodes/{node}/comments/{comment}",
        {204: "staff_of_comments owner", 401: "anonymous", 403: "*"},
        made=worlds.comment,
    ),
    Row(
        "DELETE /nodes/{node}/comments/{comment}",
        {204: "staff_of_comments owner", 401: "anonymous", 404: "*"},
        "hidden",
        made=worlds.hidden_comment,
    ),
    Row(
        "POST /nodes/{node}/comments/{comment}/state",
        {200: "staff_of_comments", 401: "anonymous", 403: "*"},
        body={"state": "hidden"},
        made=worlds.comment,
    ),
    *(
        Row(
            f"{method} /nodes/{{node}}/comments/{{comment}}/{what}",
            {204: "staff_of_comments", 401: "anonymous", 403: "*"},
            made=worlds.comment_of_new_node,
        )
        for what in ("pin", "featured")
        for method in ("PUT", "DELETE")
    ),
    Row(
        "POST /nodes/{node}/comments/{comment}/claim",
        {200: "staff_of_comments", 401: "anonymous", 403: "*"},
        made=worlds.pending_comment,
    ),
    Row(
        "DELETE /nodes/{node}/comments/{comment}/claim",
        {204: "staff_of_comments", 401: "anonymous", 403: "*"},
        made=worlds.pending_comment,
    ),
    Row(
        "GET /moderation/comments",
        {
            200: "staff_of_comments moderator_other moderator_none publisher_other",
            401: "anonymous",
            403: "*",
        },
    ),
    Row(
        "GET /moderation/log",
        {200: "staff_of_comments", 401: "anonymous", 403: "*"},
        query="?site=alpha",
    ),
    Row(
        "POST /moderation/log/{act}/undo",
        {201: "staff_of_comments", 401: "anonymous", 403: "*"},
        made=worlds.act,
    ),
    Row(
        "POST /moderation/batches",
        {202: "staff_of_comments", 401: "anonymous", 403: "*"},
        body={"site": "alpha", "state": "hidden", "person": "nobody"},
    ),
    Row(
        "GET /moderation/batches/{batch}",
        {200: "staff_of_comments", 401: "anonymous", 403: "*"},
    ),
    Row(
        "POST /moderation/batches/{batch}/undo",
        {202: "staff_of_comments", 401: "anonymous", 403: "*"},
        made=worlds.batch,
    ),
)
