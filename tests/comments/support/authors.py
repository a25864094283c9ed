"""What tests of one person's comments do and read."""

from chalicelib.comments import traces
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout

BOB = Principal("bob", "Bob")


TARGETS = [
    (Layout("documents", threaded=True), "embedded"),
    (Layout("documents", threaded=False), "buckets"),
    (Layout("embedded", threaded=True), "documents"),
    (Layout("embedded", threaded=False), "buckets"),
    (Layout("buckets", threaded=False), "documents"),
    (Layout("buckets", threaded=False), "embedded"),
]


def everything(runtime: Runtime) -> str:
    """Return all that is stored of comments as one text."""
    database = runtime.database
    names = [name for name in database.list_collection_names() if name.startswith("comments.")]
    return str([list(database[name].find()) for name in names])


def remaining(runtime: Runtime) -> int:
    found = traces.find(runtime.database, "bob")
    return sum(trace.rows.count_documents(trace.where) for trace in found)


def talk(discussion: Discussion) -> str:
    """Have Bob and Ann talk on every level; return a reply of Ann's to Bob."""
    by_bob = discussion.post("bob says", by="bob")["id"]
    discussion.post("ann says")
    if not discussion.node["threaded"]:
        return discussion.post("ann answers")["id"]
    answer = discussion.post("ann answers", by_bob)["id"]
    deepest = answer
    for level in range(12):
        deepest = discussion.post("down", deepest, by="bob" if level % 2 else "ann")["id"]
    discussion.post("bob says again", by="bob")
    return answer
