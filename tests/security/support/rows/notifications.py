"""What the matrix says of inboxes."""

from tests.security.support.row import Row

SUBSCRIPTION = {
    "endpoint": "https://updates.push.services.mozilla.com/wpush/v2/gAAAAA",
    "keys": {
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx"
        "aOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    },
    "language": "nl",
    "time_zone": "Asia/Tokyo",
}
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
    Row("GET /notifications/push/browsers", {401: "anonymous", 200: "*"}),
    # The deployment sends no push messages.
    Row("GET /notifications/push/key", {409: "*"}),
    Row("PUT /notifications/push", {401: "anonymous", 409: "*"}, body=SUBSCRIPTION),
    # Another person's browser is none, too.
    Row("DELETE /notifications/push/browsers/{subscription}", {401: "anonymous", 204: "*"}),
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
