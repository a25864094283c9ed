"""What the matrix says of the routes of assets, a site's and a user's own."""

from tests.assets.support.uploading import digest
from tests.security.support import world as worlds
from tests.security.support.row import Row
from tests.security.support.world import PICTURE

_EDITORS = "writers_of_the_site"
_NEW_VERSION = {"type": "image/png", "length": len(PICTURE), "sha256": digest(PICTURE)}
_NEW_ASSET = {**_NEW_VERSION, "name": "Picture"}
_SITES_ASSETS = (
    Row(
        "POST /content/{site}/assets", {201: _EDITORS, 401: "anonymous", 403: "*"}, body=_NEW_ASSET
    ),
    Row("GET /content/{site}/assets", {200: _EDITORS, 401: "anonymous", 403: "*"}),
    Row("GET /content/{site}/assets/{asset}", {200: _EDITORS, 401: "anonymous", 403: "*"}),
    Row(
        "DELETE /content/{site}/assets/{asset}",
        {204: _EDITORS, 401: "anonymous", 403: "*"},
        made=worlds.asset,
    ),
    Row(
        "DELETE /content/{site}/assets/{asset}/versions/{number}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        made=worlds.asset,
    ),
    Row(
        "POST /content/{site}/assets/{asset}/versions",
        {201: _EDITORS, 401: "anonymous", 403: "*"},
        body=_NEW_VERSION,
    ),
    Row("GET /content/{site}/uploads/{upload}", {200: _EDITORS, 401: "anonymous", 403: "*"}),
    Row(
        "PUT /content/{site}/uploads/{upload}/parts/{number}",
        {204: _EDITORS, 401: "anonymous", 403: "*"},
        data=PICTURE,
    ),
    Row(
        "POST /content/{site}/uploads/{upload}/finish",
        {200: _EDITORS, 401: "anonymous", 403: "*"},
        made=worlds.upload,
    ),
    Row(
        "GET /content/{site}/assets/store", {200: "owners_of_the_site", 401: "anonymous", 403: "*"}
    ),
    Row(
        "POST /content/{site}/assets/store",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"store": "gridfs"},
    ),
    Row("GET /assets/{asset}", {302: "*"}),
    Row("GET /assets/{asset}/{number}", {200: "*"}),
)
# Of another's assets nobody knows here, so these are not there.
_OWN_ASSETS = (
    Row("POST /users/me/assets", {401: "anonymous", 201: "*"}, body=_NEW_ASSET),
    Row("GET /users/me/assets", {401: "anonymous", 200: "*"}),
    Row("GET /users/me/assets/{asset}", {401: "anonymous", 404: "*"}),
    Row("DELETE /users/me/assets/{asset}", {401: "anonymous", 404: "*"}),
    Row("POST /users/me/assets/{asset}/versions", {401: "anonymous", 404: "*"}, body=_NEW_VERSION),
    Row("DELETE /users/me/assets/{asset}/versions/{number}", {401: "anonymous", 404: "*"}),
    Row("GET /users/me/uploads/{upload}", {401: "anonymous", 404: "*"}),
    Row(
        "PUT /users/me/uploads/{upload}/parts/{number}", {401: "anonymous", 404: "*"}, data=PICTURE
    ),
    Row("POST /users/me/uploads/{upload}/finish", {401: "anonymous", 404: "*"}),
)
ASSETS = (*_SITES_ASSETS, *_OWN_ASSETS)
