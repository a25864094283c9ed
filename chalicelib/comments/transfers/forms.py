"""Requests and answers of imports and exports, with their bounds."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.assets.forms import Digest, PartAnswer
from chalicelib.comments.importing.rows import MAX_SAMPLES
from chalicelib.comments.transfers.rows import MAX_FILES, MAX_MOVED, MAX_PARTS, State
from chalicelib.http import Input
from chalicelib.ids import Id
from chalicelib.sites.ids import SiteId
from chalicelib.texts import OwnUrl, ShownLine, ShownName, Url

MOST_BYTES = 1 << 30
# Room for the digests of all parts and a thousand moved pages, at 500 bytes a page.
BEGIN_BYTES = 524_288
_MOST_COUNTS, MOST_LISTED = 100, 50
# 22 pieces of 3 MiB cover a file of 64 MiB.
PIECE_BYTES, MAX_PIECES = 3 * 1024 * 1024, 22

ImportFormat = Literal[
    "plaza",
    "disqus",
    "wordpress",
    "isso",
    "remark42",
    "commento",
    "twikoo",
    "waline",
    "artalk",
    "github",
]
ExportFormat = Literal["plaza", "wxr"]
TransferId = Annotated[
    str, Id, Field(description="The id of an import or an export.", examples=["aaneGAECAwQFBgcI"])
]
_Address = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


class MovedAddress(Input):
    """A page's address in the file, and its new address."""

    old: _Address
    new: Url


class NewImport(Input):
    """A file of discussions to import, before its upload."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"length": 48_211, "dry_run": True, "format": "disqus"}]}
    )

    length: int = Field(ge=1, le=MOST_BYTES, description="In bytes; it may be a gzip file.")
    format: ImportFormat | None = Field(
        default=None, description="Null: the beginning of the file tells it."
    )
    dry_run: bool = Field(
        default=True, description="Whether the file is only tried at first, and changes nothing."
    )
    base: Url | None = Field(
        default=None, description="Where the pages stand whose addresses are paths."
    )
    url_map: Annotated[list[MovedAddress], Field(max_length=MAX_MOVED)] = Field(
        default=[], description="Pages that have another address now."
    )
    part_sha256: Annotated[list[Digest], Field(max_length=MAX_PARTS)] = Field(
        default=[],
        description="The SHA-256 of each part of 8 MiB, where the deployment has a bucket.",
    )


class NewExport(Input):
    """The format of an export: Plaza's own lines, or WXR for Disqus and WordPress."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"format": "plaza"}]})

    format: ExportFormat = "plaza"


_Count = Annotated[int, Field(ge=0)]
_Outcome = Annotated[str, Field(pattern=r"^[a-z0-9_ ]{1,60}$")]
Counts = Annotated[
    dict[_Outcome, _Count],
    Field(
        max_length=_MOST_COUNTS,
        description="Numbers by outcome: `comments` of the file, `imported`, `present` before, "
        "`left`, and `reason x` for each reason x.",
        examples=[{"comments": 1_200, "imported": 1_194, "left": 6, "reason empty": 6}],
    ),
]


class ImportProgressAnswer(TypedDict):
    """The running part of an import: `reading` counts bytes, `storing` counts discussions."""

    part: Literal["reading", "storing"]
    done: _Count
    total: _Count


class SampleAnswer(TypedDict):
    """A part of the file that the import changed or left out."""

    reason: ShownName
    where: ShownLine


class FailureAnswer(TypedDict):
    """The reason why an import or an export failed."""

    code: Annotated[ShownName, Field(examples=["broken_file"])]
    detail: Annotated[str, Field(max_length=500)]


class ImportSummary(TypedDict):
    """An import in a list."""

    id: TransferId
    site: SiteId
    format: Annotated[ImportFormat | None, Field(description="Null before the file has told it.")]
    dry_run: bool
    state: Annotated[
        State, Field(description="`tried`: a dry run is over, and the file waits to be applied.")
    ]
    begun_at: datetime
    ended_at: datetime | None
    counts: Counts
    failure: FailureAnswer | None


class ImportAnswer(ImportSummary):
    """An import with its report, and the addresses of its upload's parts."""

    progress: ImportProgressAnswer | None
    samples: Annotated[list[SampleAnswer], Field(max_length=MAX_SAMPLES)]
    part_bytes: Annotated[
        int, Field(description="The length of each part but the last.", examples=[4_194_304])
    ]
    parts: Annotated[
        list[PartAnswer],
        Field(max_length=MAX_PARTS, description="Where each part goes; empty after the upload."),
    ]


class ImportsAnswer(TypedDict):
    """The newest imports of a site, the last first."""

    imports: Annotated[list[ImportSummary], Field(max_length=MOST_LISTED)]


class DiscussionFileAnswer(TypedDict):
    """A file of an export."""

    name: Annotated[ShownLine, Field(examples=["harbour-post.ndjson.gz"])]
    length: Annotated[int, Field(description="In bytes.")]
    is_signed: Annotated[
        bool,
        Field(description="Whether the address needs no token, and ends within an hour."),
    ]
    pieces: Annotated[
        list[OwnUrl],
        Field(
            max_length=MAX_PIECES,
            description="The addresses of its pieces, which make the file one after the other.",
        ),
    ]


class DiscussionExportSummary(TypedDict):
    """An export in a list."""

    id: TransferId
    site: SiteId
    format: ExportFormat
    state: Annotated[State, Field(description="An export is `running`, `done` or `failed`.")]
    begun_at: datetime
    ended_at: datetime | None
    comments: Annotated[int, Field(ge=0, description="Written so far.")]
    failure: FailureAnswer | None


class DiscussionExportAnswer(DiscussionExportSummary):
    """An export with its files."""

    kept_until: Annotated[datetime | None, Field(description="When its files go.")]
    files: Annotated[list[DiscussionFileAnswer], Field(max_length=MAX_FILES)]


class DiscussionExportsAnswer(TypedDict):
    """The newest exports of a site, the last first."""

    exports: Annotated[list[DiscussionExportSummary], Field(max_length=MOST_LISTED)]
