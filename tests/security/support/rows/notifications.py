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
    Row("GET /notifications/mail", {401: "anonymous", 200: "*"}),
    Row(
        "PUT /notifications/mail",
        {401: "anonymous", 200: "*"},
        body={
            "every": "off",
            "hour": 20,
            "weekday": 5,
            "time_zone": "Asia/Tokyo",
            "language": "nl",
            "email": "reader@plaza.example",
        },
    ),
    Row("GET /notifications/preferences", {401: "anonymous", 200: "*"}),
    Row(
        "PUT /notifications/preferences",
        {401: "anonymous", 200: "*"},
        body={"kinds": {"follow": {"in_app": False}}, "quiet": {"from": 22, "to": 7}},
    ),
    # Who has the token of a letter's link has read the letter.
    Row("GET /notifications/mail/confirmation", {404: "*"}, query="?token=forged"),
    Row("POST /notifications/mail/confirmation", {404: "*"}, query="?token=forged"),
    Row("GET /notifications/mail/stop", {404: "*"}, query="?token=forged"),
    Row("POST /notifications/mail/stop", {404: "*"}, query="?token=forged"),
)
