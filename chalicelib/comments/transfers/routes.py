"""Routes of imports and exports: a site's publisher brings discussions in, and takes them out."""

from typing import Annotated

from pydantic import Field

from chalicelib.assets.blobs import BlobGone, store_of
from chalicelib.assets.errors import OtherStore, PartsMissing
from chalicelib.assets.views import PART
from chalicelib.comments.errors import (
    ExportRunning,
    FileTooLarge,
    ImportRunning,
    UnknownTransfer,
    WrongStep,
)
from chalicelib.comments.transfers import files, starting
from chalicelib.comments.transfers.answers import (
    export_answer,
    export_summary,
    import_answer,
    import_summary,
)
from chalicelib.comments.transfers.forms import (
    BEGIN_BYTES,
    MAX_PIECES,
    PIECE_BYTES,
    DiscussionExportAnswer,
    DiscussionExportsAnswer,
    ImportAnswer,
    ImportsAnswer,
    NewExport,
    NewImport,
    TransferId,
)
from chalicelib.comments.transfers.rows import MAX_FILES, MAX_PARTS
from chalicelib.http import Accepted, Binary, Created, NoContent, Ok, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.limits import ASSETS
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher

# GridFS takes parts of 4 MiB here; a bucket takes its parts directly, by presigned addresses.
PartNumber = Annotated[int, Field(ge=1, le=MAX_PARTS, description="The first part is 1.")]
FileNumber = Annotated[int, Field(ge=1, le=MAX_FILES, description="The first file is 1.")]
PieceNumber = Annotated[int, Field(ge=1, le=MAX_PIECES, description="The first piece is 1.")]
_PRIVATE = {"Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff"}


class Piece(Binary):
    """200: up to 3 MiB of a file."""

    media_types = (files.MEDIA_TYPE,)
    max_bytes = 4 * PIECE_BYTES // 3


def declare(route: Route) -> None:
    """Declare the routes of imports and exports."""
    _declare_beginning(route)
    _declare_parts(route)
    _declare_steps(route)
    _declare_imports(route)
    _declare_exports(route)
    _declare_files(route)


def _declare_beginning(route: Route) -> None:
    @route(
        "POST",
        "/sites/{site}/imports",
        limit=ASSETS,
        body_limit_bytes=BEGIN_BYTES,
        raises=(FileTooLarge, ImportRunning),
    )
    def begin_import(
        request: Request, site: SiteId, publisher: Publisher, body: NewImport
    ) -> Created[ImportAnswer]:
        """Begin an import of another system's file into a site's discussions.

        The answer says where each part of the file goes. A site has one import at a time, from
        here on until it is over. An import that its publisher does not start ends after a day.
        """
        check_publisher(publisher, site)
        row = starting.begin_import(request.runtime, site, body)
        location = request.location(f"/sites/{site}/imports/{row['_id']}")
        return Created(import_answer(request.runtime, row), location)


def _declare_parts(route: Route) -> None:
    @route(
        "PUT",
        "/sites/{site}/imports/{transfer}/parts/{number}",
        limit=ASSETS,
        raises=(UnknownTransfer, WrongStep, OtherStore),
        **PART,
    )
    def put_import_part(  # noqa: PLR0913, PLR0917 - the path's
        request: Request,
        site: SiteId,
        transfer: TransferId,
        number: PartNumber,
        publisher: Publisher,
        body: bytes,
    ) -> NoContent:
        """Send a part of an import's file, as its bytes alone; a stored part stays as it is."""
        check_publisher(publisher, site)
        row = starting.find(request.runtime, site, "import", transfer)
        starting.put_part(request.runtime, row, number, body)
        return NoContent()


def _declare_steps(route: Route) -> None:
    @route(
        "POST",
        "/sites/{site}/imports/{transfer}/start",
        raises=(UnknownTransfer, WrongStep, PartsMissing),
    )
    def start_import(
        request: Request, site: SiteId, transfer: TransferId, publisher: Publisher
    ) -> Accepted[ImportAnswer]:
        """Have a worker read a file whose parts are all sent; a repeated call changes nothing."""
        check_publisher(publisher, site)
        row = starting.find(request.runtime, site, "import", transfer)
        return Accepted(import_answer(request.runtime, starting.start(request.runtime, row)))

    @route("POST", "/sites/{site}/imports/{transfer}/apply", raises=(UnknownTransfer, WrongStep))
    def apply_import(
        request: Request, site: SiteId, transfer: TransferId, publisher: Publisher
    ) -> Accepted[ImportAnswer]:
        """Apply a file after its dry run; a repeated call changes nothing."""
        check_publisher(publisher, site)
        row = starting.find(request.runtime, site, "import", transfer)
        return Accepted(import_answer(request.runtime, starting.apply(request.runtime, row)))

    @route("DELETE", "/sites/{site}/imports/{transfer}", raises=(UnknownTransfer,))
    def stop_import(
        request: Request, site: SiteId, transfer: TransferId, publisher: Publisher
    ) -> Accepted[ImportAnswer]:
        """Stop an import; a running import stops at its next step.

        Discussions stored by then stay; a later import of the same file brings the others.
        """
        check_publisher(publisher, site)
        row = starting.find(request.runtime, site, "import", transfer)
        return Accepted(import_answer(request.runtime, starting.stop(request.runtime, row)))


def _declare_imports(route: Route) -> None:
    @route("GET", "/sites/{site}/imports")
    def list_imports(request: Request, site: SiteId, publisher: Publisher) -> Ok[ImportsAnswer]:
        """List the newest fifty imports of a site, of the last three months."""
        check_publisher(publisher, site)
        found = starting.newest(request.runtime, site, "import")
        return Ok({"imports": [import_summary(row) for row in found]})

    @route("GET", "/sites/{site}/imports/{transfer}", raises=(UnknownTransfer,))
    def get_import(
        request: Request, site: SiteId, transfer: TransferId, publisher: Publisher
    ) -> Ok[ImportAnswer]:
        """Read how far an import is, and the numbers of comments by their outcome."""
        check_publisher(publisher, site)
        row = starting.find(request.runtime, site, "import", transfer)
        return Ok(import_answer(request.runtime, row))


def _declare_exports(route: Route) -> None:
    @route("POST", "/sites/{site}/exports", limit=ASSETS, raises=(ExportRunning,))
    def begin_export(
        request: Request, site: SiteId, publisher: Publisher, body: NewExport
    ) -> Accepted[DiscussionExportAnswer]:
        """Have a worker write all discussions of a site into files, which stay for up to a week."""
        check_publisher(publisher, site)
        row = starting.begin_export(request.runtime, site, body.format)
        return Accepted(export_answer(request.runtime, row))

    @route("GET", "/sites/{site}/exports")
    def list_exports(
        request: Request, site: SiteId, publisher: Publisher
    ) -> Ok[DiscussionExportsAnswer]:
        """List the newest fifty exports of a site, of the last three months."""
        check_publisher(publisher, site)
        found = starting.newest(request.runtime, site, "export")
        return Ok({"exports": [export_summary(row) for row in found]})

    @route("GET", "/sites/{site}/exports/{transfer}", raises=(UnknownTransfer,))
    def get_export(
        request: Request, site: SiteId, transfer: TransferId, publisher: Publisher
    ) -> Ok[DiscussionExportAnswer]:
        """Read how far an export is, and where its files are."""
        check_publisher(publisher, site)
        row = starting.find(request.runtime, site, "export", transfer)
        return Ok(export_answer(request.runtime, row))


def _declare_files(route: Route) -> None:
    @route(
        "GET",
        "/sites/{site}/exports/{transfer}/files/{number}/pieces/{piece}",
        raises=(UnknownTransfer,),
    )
    def get_export_piece(  # noqa: PLR0913, PLR0917 - the path's
        request: Request,
        site: SiteId,
        transfer: TransferId,
        number: FileNumber,
        piece: PieceNumber,
        publisher: Publisher,
    ) -> Piece:
        """Read a piece of an export's file, up to 3 MiB, from a deployment without a bucket."""
        check_publisher(publisher, site)
        row = starting.find(request.runtime, site, "export", transfer)
        start = (piece - 1) * PIECE_BYTES
        found = row["files"][number - 1 : number]
        if row["state"] != "done" or not found or start >= found[0]["length"]:
            raise UnknownTransfer
        end = min(found[0]["length"], start + PIECE_BYTES)
        try:
            content = store_of(request.runtime, row["store"]).read(found[0]["blob"], start, end)
        except BlobGone:
            raise UnknownTransfer from None
        return Piece(content, files.MEDIA_TYPE, _PRIVATE)
