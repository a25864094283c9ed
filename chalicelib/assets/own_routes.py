"""The interface to a person's own pictures, for their posts and their profile."""

from chalicelib.assets import catalogue, own, views
from chalicelib.assets.errors import AssetInUse, TooManyAssets, UnknownAsset, UnknownUpload
from chalicelib.assets.forms import (
    AssetAnswer,
    AssetsAnswer,
    NewAsset,
    NewVersion,
    UploadAnswer,
    WholeAssetAnswer,
)
from chalicelib.assets.shapes import AssetId, UploadId, owner_of_person
from chalicelib.assets.views import PartNumber, VersionNumber
from chalicelib.http import Created, NoContent, Ok, PageQuery, Request, Route
from chalicelib.identity import Principal
from chalicelib.limits import ASSETS

_FOLDER = "/users/me"


def declare(route: Route) -> None:
    """Declare the routes of a person's own assets."""
    _declare_beginnings(route)
    _declare_uploads(route)
    _declare_assets(route)


def _declare_beginnings(route: Route) -> None:
    @route(
        "POST",
        "/users/me/assets",
        limit=ASSETS,
        body_limit_bytes=views.BEGIN_BYTES,
        raises=(*views.OF_BEGIN, TooManyAssets),
    )
    def begin_my_asset(
        request: Request, caller: Principal, body: NewAsset
    ) -> Created[UploadAnswer]:
        """Begin an upload of a picture of your own, of at most 4 MiB."""
        own.check(request.runtime, caller.id, body)
        return views.begin(request, owner_of_person(caller.id), _FOLDER, body)

    @route(
        "POST",
        "/users/me/assets/{asset}/versions",
        limit=ASSETS,
        body_limit_bytes=views.BEGIN_BYTES,
        raises=views.OF_OWN_VERSION,
    )
    def begin_my_asset_version(
        request: Request, asset: AssetId, caller: Principal, body: NewVersion
    ) -> Created[UploadAnswer]:
        """Begin an upload of a new version of a picture of your own."""
        own.check_picture(body)
        return views.begin(request, owner_of_person(caller.id), _FOLDER, body, asset)


def _declare_uploads(route: Route) -> None:
    @route("GET", "/users/me/uploads/{upload}", raises=(UnknownUpload,))
    def get_my_upload(request: Request, upload: UploadId, caller: Principal) -> Ok[UploadAnswer]:
        """Read the stored parts of your upload, to continue with the others."""
        return views.read_upload(request, owner_of_person(caller.id), _FOLDER, upload)

    @route(
        "PUT",
        "/users/me/uploads/{upload}/parts/{number}",
        limit=ASSETS,
        raises=views.OF_OWN_PART,
        **views.PART,
    )
    def put_my_part(
        request: Request, upload: UploadId, number: PartNumber, caller: Principal, body: bytes
    ) -> NoContent:
        """Send a part of your upload; a stored part does not change."""
        return views.put_part(request, owner_of_person(caller.id), upload, number, body)

    @route("POST", "/users/me/uploads/{upload}/finish", limit=ASSETS, raises=views.OF_OWN_FINISH)
    def finish_my_upload(request: Request, upload: UploadId, caller: Principal) -> Ok[AssetAnswer]:
        """Make the sent parts the current version of your asset; a repeat changes nothing."""
        return views.finish(request, owner_of_person(caller.id), upload)


def _declare_assets(route: Route) -> None:
    @route("GET", "/users/me/assets")
    def list_my_assets(request: Request, caller: Principal, query: PageQuery) -> Ok[AssetsAnswer]:
        """List your own assets, newest first."""
        return Ok(catalogue.page(request.runtime, owner_of_person(caller.id), query))

    @route("GET", "/users/me/assets/{asset}", raises=(UnknownAsset,))
    def get_my_asset(request: Request, asset: AssetId, caller: Principal) -> Ok[WholeAssetAnswer]:
        """Read your asset with all its versions."""
        return views.read(request, owner_of_person(caller.id), asset)

    @route("DELETE", "/users/me/assets/{asset}", limit=ASSETS, raises=(UnknownAsset, AssetInUse))
    def delete_my_asset(request: Request, asset: AssetId, caller: Principal) -> NoContent:
        """Delete an asset of yours that nothing shows."""
        catalogue.delete(request.runtime, owner_of_person(caller.id), asset)
        return NoContent()

    @route(
        "DELETE",
        "/users/me/assets/{asset}/versions/{number}",
        limit=ASSETS,
        raises=(UnknownAsset,),
    )
    def remove_my_asset_version(
        request: Request, asset: AssetId, number: VersionNumber, caller: Principal
    ) -> NoContent:
        """Remove a version of your asset for good, even while posts or your profile show it.

        Plaza stops showing the version at once, and caches stop within an hour.
        """
        catalogue.take_down(request.runtime, owner_of_person(caller.id), asset, number)
        return NoContent()
