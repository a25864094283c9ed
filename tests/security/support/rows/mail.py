"""What the matrix says of letters."""

from tests.security.support.row import Row

MAIL = (
    Row(
        "POST /mail/trials",
        {202: "admin", 401: "anonymous", 403: "*"},
        body={"email": "ann@plaza.example"},
    ),
)
