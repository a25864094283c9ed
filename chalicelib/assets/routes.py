"""The interface to assets: of a site, of a person, and for public reading."""

from chalice.app import Blueprint

from chalicelib.assets import catalogue, own_routes, promotion, quotas, serving, views
from chalicelib.assets.errors import (
    AssetInUse,
    RangeNeeded,
    StoreUnavailable,
    UnknownAsset,
    UnknownUpload,
    UnsatisfiableRange,
)
from chalicelib.assets.forms import (
    AssetAnswer,
    AssetsAnswer,
    AssetStore,
    LibraryAnswer,
    NewAsset,
    NewVersion,
    UploadAnswer,
    WholeAssetAnswer,
)
from chalicelib.assets.serving import Part, Whole
from chalicelib.assets.shapes import AssetId, UploadId
from chalicelib.assets.views import PartNumber, VersionNumber, site_folder
from chalicelib.http import (
    Created,
    Found,
    NoContent,
    NotModified,
    Ok,
    PageQuery,
    Request,
    Route,
    router,
)
from chalicelib.http.callers import Editor, Publisher
from chalicelib.limits import ASSETS
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_editor, check_publisher


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of assets."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Assets")
    _declare_beginnings(route)
    _declare_parts(route)
    _declare_finish(route)
    _declare_assets(route)
    _declare_removal(route)
    _declare_store(route)
    own_routes.declare(route)
    _declare_reading(route)
    return blueprint


def _declare_beginnings(route: Route) -> None:
    @route(
        "POST",
        "/content/{site}/assets",
        limit=ASSETS,
        body_limit_bytes=views.BEGIN_BYTES,
        raises=views.OF_BEGIN,
    )
    def begin_asset(
        request: Request, site: SiteId, editor: Editor, body: NewAsset
    ) -> Created[UploadAnswer]:
        """Begin an upload of a new asset of a site.

        The answer has the address of each part. After a day, Plaza removes an unfinished upload.
        """
        check_editor(editor, site)
        return views.begin(request, site, site_folder(site), body)

    @route(
        "POST",
        "/content/{site}/assets/{asset}/versions",
        limit=ASSETS,
        body_limit_bytes=views.BEGIN_BYTES,
        raises=views.OF_VERSION,
    )
    def begin_asset_version(
        request: Request, site: SiteId, asset: AssetId, editor: Editor, body: NewVersion
    ) -> Created[UploadAnswer]:
        """Begin an upload of a new version of an asset.

        The asset's address leads to the former version until the upload finishes.
        """
        check_editor(editor, site)
        return views.begin(request, site, site_folder(site), body, asset)


def _declare_parts(route: Route) -> None:
    @route("GET", "/content/{site}/uploads/{upload}", raises=(UnknownUpload,))
    def get_upload(
        request: Request, site: SiteId, upload: UploadId, editor: Editor
    ) -> Ok[UploadAnswer]:
        """Read the stored parts of an upload, to continue with the others."""
        check_editor(editor, site)
        return views.read_upload(request, site, site_folder(site), upload)

    @route(
        "PUT",
        "/content/{site}/uploads/{upload}/parts/{number}",
        limit=ASSETS,
        raises=views.OF_PART,
        **views.PART,
    )
    def put_part(  # noqa: PLR0913, PLR0917 - the path's
        request: Request,
        site: SiteId,
        upload: UploadId,
        number: PartNumber,
        editor: Editor,
        body: bytes,
    ) -> NoContent:
        """Send a part of an upload: the body is its bytes alone. A stored part does not change."""
        check_editor(editor, site)
        return views.put_part(request, site, upload, number, body)


def _declare_finish(route: Route) -> None:
    @route(
        "POST",
        "/content/{site}/uploads/{upload}/finish",
        limit=ASSETS,
        raises=views.OF_FINISH,
    )
    def finish_upload(
        request: Request, site: SiteId, upload: UploadId, editor: Editor
    ) -> Ok[AssetAnswer]:
        """Make the sent parts the current version of their asset; a repeated call changes nothing.

        Length, SHA-256 and type must equal the values at the beginning of the upload.
        """
        check_editor(editor, site)
        return views.finish(request, site, upload)


def _declare_assets(route: Route) -> None:
    @route("GET", "/content/{site}/assets")
    def list_assets(
        request: Request, site: SiteId, editor: Editor, query: PageQuery
    ) -> Ok[AssetsAnswer]:
        """List a site's assets, newest first."""
        check_editor(editor, site)
        return Ok(catalogue.page(request.runtime, site, query))

    @route("GET", "/content/{site}/assets/{asset}", raises=(UnknownAsset,))
    def get_asset(
        request: Request, site: SiteId, asset: AssetId, editor: Editor
    ) -> Ok[WholeAssetAnswer]:
        """Read an asset with all its versions."""
        check_editor(editor, site)
        return views.read(request, site, asset)

    @route(
        "DELETE",
        "/content/{site}/assets/{asset}",
        limit=ASSETS,
        raises=(UnknownAsset, AssetInUse),
    )
    def delete_asset(request: Request, site: SiteId, asset: AssetId, editor: Editor) -> NoContent:
        """Delete an asset that nothing shows, with all its versions."""
        check_editor(editor, site)
        catalogue.delete(request.runtime, site, asset)
        return NoContent()


def _declare_removal(route: Route) -> None:
    @route(
        "DELETE",
        "/content/{site}/assets/{asset}/versions/{number}",
        limit=ASSETS,
        raises=(UnknownAsset,),
    )
    def remove_asset_version(
        request: Request, site: SiteId, asset: AssetId, number: VersionNumber, publisher: Publisher
    ) -> NoContent:
        """Remove a version of an asset for good, even while pages or posts show it.

        Plaza stops showing the version at once; caches, and addresses in a bucket, stop within an
        hour. The asset's address then leads to its newest other version, if any is left.
        """
        check_publisher(publisher, site)
        catalogue.take_down(request.runtime, site, asset, number)
        return NoContent()


def _declare_store(route: Route) -> None:
    @route("GET", "/content/{site}/assets/store")
    def get_asset_store(request: Request, site: SiteId, publisher: Publisher) -> Ok[LibraryAnswer]:
        """Read the store of a site's assets, and their number of bytes."""
        check_publisher(publisher, site)
        library = catalogue.library_of(request.runtime.database, site)
        return Ok(quotas.library_answer(request.runtime, library))

    @route("POST", "/content/{site}/assets/store", raises=(StoreUnavailable,))
    def choose_asset_store(
        request: Request, site: SiteId, publisher: Publisher, body: AssetStore
    ) -> Ok[LibraryAnswer]:
        """Choose the store of a site's new uploads; a worker moves the existing assets there.

        Meanwhile readers find all assets at the same addresses.
        """
        check_publisher(publisher, site)
        promotion.choose(request.runtime, site, body.store)
        library = catalogue.library_of(request.runtime.database, site)
        return Ok(quotas.library_answer(request.runtime, library))


def _declare_reading(route: Route) -> None:
    @route("GET", "/assets/{asset}", raises=(UnknownAsset,))
    def find_asset(request: Request, asset: AssetId) -> Found:
        """Go to the current version of an asset."""
        return serving.current(request, asset)

    @route(
        "GET",
        "/assets/{asset}/{number}",
        raises=(UnknownAsset, RangeNeeded, UnsatisfiableRange),
    )
    def read_asset(
        request: Request, asset: AssetId, number: VersionNumber
    ) -> Whole | Part | Found | NotModified:
        """Read a version of an asset, or a range of it: an answer has at most 4 MiB.

        A version never changes, and may be removed. Of a longer range, the answer has the first
        4 MiB: `Content-Range` names their end, and players continue from there. If the store has
        an address of its own for the version, the answer redirects there.
        """
        return serving.version(request, asset, number)
