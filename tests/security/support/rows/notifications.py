"""What the matrix says of inboxes."""

from tests.security.support.row import Row

NOTIFICATIONS = (
    Row("GET /notifications", {401: "anonymous", 200: "*"}),
    Row(
        "PUT /notifications/seen",
        {401: "anonymous", 204: "*"},
        body={"until": "2026-01-01T00:00:00Z"},
    ),
    Row("PUT /notifications/read", {401: "anonymous", 204: "*"}, body={"ids": ["nothing"]}),
    Row("GET /changes", {200: "*"}, query="?topics=inbox,news,node:harbour:moon"),
)
