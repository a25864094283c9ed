"""Drafts, revisions and the desk in the API, for editors."""

from typing import Annotated

from pydantic import Field

from chalicelib.assets.errors import UnknownAsset
from chalicelib.content import nodes
from chalicelib.content.answers import (
    ContentAnswer,
    DeskAnswer,
    content_answer,
    listed_content_answer,
)
from chalicelib.content.editing import differences, drafts, revisions
from chalicelib.content.editing.forms import (
    BODY_LIMIT_BYTES,
    ContentEdit,
    DeskQuery,
    DifferencesAnswer,
    NewContent,
    RevisionAnswer,
    RevisionsAnswer,
    revision_answer,
    revision_summary,
)
from chalicelib.content.errors import (
    AssetsGone,
    ContentGone,
    EditConflict,
    UnknownContent,
    UnknownRevision,
)
from chalicelib.content.shapes import ContentNode
from chalicelib.content.slugs import ContentId
from chalicelib.http import Created, Ok, PageQuery, Request, Route, conditional
from chalicelib.http.callers import Editor
from chalicelib.http.idempotency import once
from chalicelib.http.paging import Cursors, page_of
from chalicelib.limits import CONTENT
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_editor

Version = Annotated[int, Field(ge=1, le=999_999_999, description="The version of a draft.")]
_UNKNOWN = (UnknownContent, ContentGone)


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_pages(route)
    _declare_edits(route)
    _declare_revisions(route)
    _declare_comparison(route)
    _declare_restoring(route)


def _declare_pages(route: Route) -> None:
    @route(
        "POST",
        "/content/{site}/nodes",
        limit=CONTENT,
        body_limit_bytes=BODY_LIMIT_BYTES,
        takes_idempotency_key=True,
        tells_version=True,
        raises=(ContentGone, UnknownAsset),
    )
    def create_content(
        request: Request, site: SiteId, editor: Editor, body: NewContent
    ) -> Created[ContentAnswer]:
        """Write a page, a post or a photo: a draft, hidden from readers until its publication."""
        check_editor(editor, site)
        database = request.runtime.database
        node = once(
            request,
            lambda runtime: drafts.create(runtime, site, body, editor),
            lambda made, _at: nodes.find(database, site, made),
        )
        request.details["made"] = node["_id"]
        address = request.location(f"/content/{site}/nodes/{node['_id']}")
        return Created(content_answer(node, request.runtime.now()), {**address, **_tag(node)})

    @route("GET", "/content/{site}/nodes/{content}", tells_version=True, raises=_UNKNOWN)
    def get_content(
        request: Request, site: SiteId, content: ContentId, editor: Editor
    ) -> Ok[ContentAnswer]:
        """Read a page with its draft."""
        check_editor(editor, site)
        return _answer(request, nodes.find(request.runtime.database, site, content))


def _declare_edits(route: Route) -> None:
    @route(
        "PATCH",
        "/content/{site}/nodes/{content}",
        limit=CONTENT,
        body_limit_bytes=BODY_LIMIT_BYTES,
        needs_version=True,
        tells_version=True,
        raises=(*_UNKNOWN, EditConflict, UnknownAsset),
    )
    def edit_content(
        request: Request, site: SiteId, content: ContentId, editor: Editor, body: ContentEdit
    ) -> Ok[ContentAnswer]:
        """Change a draft if its version is the version in `If-Match`.

        Otherwise the call fails and changes nothing; `facts` of the error have the current draft
        and the names of the fields in which yours differs. Readers see no change.
        """
        check_editor(editor, site)
        version = conditional.expected_version(request)
        node = nodes.find(request.runtime.database, site, content)
        return _answer(request, drafts.edit(request.runtime, node, version, body, editor))

    @route("GET", "/content/{site}/desk")
    def list_desk(
        request: Request, site: SiteId, editor: Editor, query: DeskQuery
    ) -> Ok[DeskAnswer]:
        """List a site's pages in a state, last changed first, without their texts."""
        check_editor(editor, site)
        found, following = drafts.desk(request.runtime, site, query)
        now = request.runtime.now()
        return Ok(
            {"nodes": [listed_content_answer(each, now) for each in found], "next": following}
        )


def _declare_revisions(route: Route) -> None:
    @route("GET", "/content/{site}/nodes/{content}/revisions", raises=_UNKNOWN)
    def list_revisions(
        request: Request, site: SiteId, content: ContentId, editor: Editor, query: PageQuery
    ) -> Ok[RevisionsAnswer]:
        """List the revisions of a page, newest first.

        A person's successive saves within ten minutes make one revision. The last 50 revisions
        stay, and all revisions that were live.
        """
        check_editor(editor, site)
        database = request.runtime.database
        node = nodes.find(database, site, content)
        cursors = Cursors(f"revisions:{node['_id']}", request.runtime.settings.signing_keys)
        position = cursors.position(query)
        version = position[0] if position else None
        found = revisions.before(database, node["_id"], version, query.limit + 1)
        rows, last = page_of(found, query.limit)
        following = cursors.following([last["_id"]["version"]] if last else None)
        return Ok({"revisions": [revision_summary(each) for each in rows], "next": following})

    @route(
        "GET",
        "/content/{site}/nodes/{content}/revisions/{revision}",
        raises=(*_UNKNOWN, UnknownRevision),
    )
    def get_revision(
        request: Request, site: SiteId, content: ContentId, revision: Version, editor: Editor
    ) -> Ok[RevisionAnswer]:
        """Read a revision."""
        check_editor(editor, site)
        database = request.runtime.database
        node = nodes.find(database, site, content)
        return Ok(revision_answer(revisions.find(database, node["_id"], revision)))


def _declare_comparison(route: Route) -> None:
    @route(
        "GET",
        "/content/{site}/nodes/{content}/revisions/{revision}/diff/{other}",
        raises=(*_UNKNOWN, UnknownRevision),
    )
    def compare_revisions(  # noqa: PLR0913, PLR0917 - the path names two revisions
        request: Request,
        site: SiteId,
        content: ContentId,
        revision: Version,
        other: Version,
        editor: Editor,
    ) -> Ok[DifferencesAnswer]:
        """Compare a revision with another one, field by field and texts line by line."""
        check_editor(editor, site)
        database = request.runtime.database
        node = nodes.find(database, site, content)
        before, after = (revisions.find(database, node["_id"], n) for n in (revision, other))
        fields = differences.compare(before, after)
        return Ok({"before": revision, "after": other, "fields": fields})


def _declare_restoring(route: Route) -> None:
    @route(
        "POST",
        "/content/{site}/nodes/{content}/revisions/{revision}/restore",
        limit=CONTENT,
        needs_version=True,
        tells_version=True,
        raises=(*_UNKNOWN, UnknownRevision, AssetsGone, EditConflict, UnknownAsset),
    )
    def restore_revision(
        request: Request, site: SiteId, content: ContentId, revision: Version, editor: Editor
    ) -> Ok[ContentAnswer]:
        """Save a revision as the draft if the draft's version is the version in `If-Match`."""
        check_editor(editor, site)
        version = conditional.expected_version(request)
        node = nodes.find(request.runtime.database, site, content)
        return _answer(request, drafts.restore(request.runtime, node, version, revision, editor))


def _answer(request: Request, node: ContentNode) -> Ok[ContentAnswer]:
    return Ok(content_answer(node, request.runtime.now()), _tag(node))


def _tag(node: ContentNode) -> dict[str, str]:
    return {"ETag": conditional.version_tag(node["version"])}
