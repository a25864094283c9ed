"""Drafts: each save names the version that it changes, so that no save is lost unseen."""

from typing import Any

from pymongo import DESCENDING
from pymongo.client_session import ClientSession

from chalicelib.assets import pictures, uses
from chalicelib.content import named_assets, nodes, types
from chalicelib.content.answers import draft_answer
from chalicelib.content.editing import differences, revisions
from chalicelib.content.editing.forms import ContentEdit, DeskQuery, NewContent
from chalicelib.content.errors import AssetsGone, EditConflict, UnknownContent
from chalicelib.content.nodes import NODES
from chalicelib.content.shapes import ContentNode, PageDraft, PageWords, Writer
from chalicelib.content.visibility import in_state
from chalicelib.database import Document, in_transaction
from chalicelib.http.paging import Cursors, page_of
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.instants import milliseconds, moment
from chalicelib.runtime import Runtime

_WORDS = ("slug", "title", "summary", "tags", "detail")
# The desk omits texts: a text may have 200,000 characters, and its HTML a megabyte.
_WITHOUT_TEXTS = {
    f"{words}.{text}": 0 for words in ("draft", "live", "next") for text in ("html", "detail.text")
}


def create(runtime: Runtime, site: str, new: NewContent, caller: Principal) -> ContentNode:
    """Store a page with its first draft; raises InvalidRequest for the detail, and UnknownAsset."""
    return _insert(runtime, _new_node(runtime, site, new.type, new_draft(runtime, new, caller)))


def bring(runtime: Runtime, site: str, kind: str, draft: PageDraft, node_id: str) -> ContentNode:
    """Store a page of another system under the id `node_id`.

    Raises DuplicateKeyError if the id exists.
    """
    return _insert(runtime, {**_new_node(runtime, site, kind, draft), "_id": node_id})


def new_draft(runtime: Runtime, new: NewContent, caller: Principal) -> PageDraft:
    """Return the first draft of a page; raises InvalidRequest for the detail, and UnknownAsset."""
    detail = types.check_detail(new.type, new.detail)
    named = named_assets.find(runtime, new.type, detail)
    named_assets.check(runtime.database, named, set(), caller)
    return {
        "slug": new.slug,
        "title": new.title,
        "summary": new.summary,
        "tags": new.tags,
        "detail": detail,
        "assets": sorted(named.all),
        "by": _writer(caller),
        "at": runtime.now(),
    }


def _insert(runtime: Runtime, node: ContentNode) -> ContentNode:
    def work(session: ClientSession) -> None:
        pictures.change(runtime.database, session, set(), named_assets.of(node))
        NODES.of(runtime.database).insert_one(node, session=session)
        revisions.add(runtime, node, session)

    in_transaction(runtime.database, work)
    return node


def _new_node(runtime: Runtime, site: str, kind: str, draft: PageDraft) -> ContentNode:
    return {
        "_id": new_id(draft["at"], runtime.random),
        "site": site,
        "type": kind,
        "version": 1,
        "created": draft["at"],
        "updated": draft["at"],
        "author": draft["by"],
        "draft": draft,
        "live": None,
        "next": None,
        "published": None,
        "dated": None,
        "first_published": None,
        "until": None,
        "edition": 0,
        "discussion": None,
        "is_closed": False,
        "preview_key": new_id(draft["at"], runtime.random),
        "removed": None,
    }


def edit(
    runtime: Runtime, node: ContentNode, version: int, change: ContentEdit, caller: Principal
) -> ContentNode:
    """Save changes of a page's draft, if the page still has this version.

    Raises InvalidRequest for the detail, UnknownAsset, EditConflict, UnknownContent and
    ContentGone.
    """
    given = {name: getattr(change, name) for name in _WORDS if name in change.model_fields_set}
    if "detail" in given:
        given["detail"] = types.check_detail(node["type"], given["detail"])
    return _save(runtime, node, version, given, caller)


def restore(
    runtime: Runtime, node: ContentNode, version: int, restored: int, caller: Principal
) -> ContentNode:
    """Save a revision as the draft: an edit like any other.

    Raises UnknownRevision, AssetsGone, UnknownAsset, EditConflict, UnknownContent and ContentGone.
    """
    revision: Any = revisions.find(runtime.database, node["_id"], restored)
    named = named_assets.find(runtime, node["type"], revision["detail"])
    if missing := uses.find_missing(runtime.database, named.all):
        raise AssetsGone(missing)
    return _save(runtime, node, version, {name: revision[name] for name in _WORDS}, caller)


def check_version(node: ContentNode, version: int, given: Document | None = None) -> None:
    """Raise EditConflict, with the current draft, unless the page has this version or no draft.

    `given` are the fields to save; the error names the fields that differ from the draft.
    """
    draft = node["draft"]
    if node["version"] == version or draft is None:
        return
    mine: PageWords = {**draft, **(given or {})}  # type: ignore[typeddict-item]
    present = {"version": node["version"], **draft_answer(draft)}
    raise EditConflict(present, differences.different(draft, mine))


def desk(runtime: Runtime, site: str, query: DeskQuery) -> tuple[list[ContentNode], str | None]:
    """Return a site's pages in a state, last changed first, and the cursor of the rest, or None."""
    cursors = Cursors(f"desk:{site}:{query.state}", runtime.settings.signing_keys)
    position = cursors.position(query)
    where: Document = {"site": site, "removed": None}
    conditions = [in_state(query.state, runtime.now())]
    if position:
        at, node_id = moment(position[0]), position[1]
        where["updated"] = {"$lte": at}
        conditions.append({"$or": [{"updated": {"$lt": at}}, {"_id": {"$lt": node_id}}]})
    rows = NODES.of(runtime.database).find({**where, "$and": conditions}, _WITHOUT_TEXTS)
    order = [("updated", DESCENDING), ("_id", DESCENDING)]
    found, last = page_of(list(rows.sort(order).limit(query.limit + 1)), query.limit)
    following = [milliseconds(last["updated"]), last["_id"]] if last else None
    return list(found), cursors.following(following)


def _save(
    runtime: Runtime, node: ContentNode, version: int, given: Document, caller: Principal
) -> ContentNode:
    now = runtime.now()
    words: Document = {**given, "by": _writer(caller), "at": now}
    if "detail" in given:
        named = named_assets.find(runtime, node["type"], given["detail"])
        named_assets.check(runtime.database, named, named_assets.of(node), caller)
        words["assets"] = sorted(named.all)
    change = {f"draft.{name}": value for name, value in words.items()}
    where = {"_id": node["_id"], "site": node["site"], "version": version, "removed": None}

    def work(session: ClientSession) -> ContentNode:
        before = NODES.of(runtime.database).find_one_and_update(
            where, {"$set": {**change, "updated": now}, "$inc": {"version": 1}}, session=session
        )
        if before is None or before["draft"] is None:
            present = nodes.find(runtime.database, node["site"], node["_id"], session)
            check_version(present, version, given)
            raise UnknownContent
        draft: PageDraft = {**before["draft"], **words}  # type: ignore[typeddict-item]
        saved: ContentNode = {**before, "draft": draft, "version": version + 1, "updated": now}
        held, after = named_assets.of(before), named_assets.of(saved)
        pictures.change(runtime.database, session, held, after)
        revisions.add(runtime, saved, session)
        return saved

    return in_transaction(runtime.database, work)


def _writer(caller: Principal) -> Writer:
    return {"id": caller.id, "name": caller.name}
