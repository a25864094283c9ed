"""What a discussion is, as a plain list: the measure for every store."""

from dataclasses import dataclass, field

from chalicelib.comments.shapes import State
from chalicelib.comments.store import Order

Path = tuple[int, ...]
Key = tuple[int, Path]


@dataclass
class Entry:
    """A comment of the model; `path` holds the numbers from its root down to itself."""

    id: str
    path: Path
    parent: str | None
    author: str | None
    text: str | None
    state: State
    replies: int = 0

    def seen_by(self, viewer: str | None) -> bool:
        if self.state == "deleted":
            return self.replies > 0
        if self.state == "pending":
            return viewer in {"mo", self.author}
        return self.state == "visible" or viewer == "mo"


@dataclass
class Model:
    """A node as a list of comments in the order in which they were posted."""

    threaded: bool
    max_depth: int
    entries: list[Entry] = field(default_factory=list)

    def entry(self, comment_id: str) -> Entry:
        return next(entry for entry in self.entries if entry.id == comment_id)

    def post(
        self, comment_id: str, author: str, text: str, parent: str | None, state: State
    ) -> Entry:
        path: Path = ()
        if parent is not None:
            above = self.entry(parent)
            if len(above.path) > self.max_depth:
                assert above.parent is not None
                above = self.entry(above.parent)
            above.replies += 1
            path, parent = above.path, above.id
        entry = Entry(comment_id, (*path, len(self.entries)), parent, author, text, state)
        self.entries.append(entry)
        return entry

    def key(self, entry: Entry, order: Order) -> Key:
        """Return what the listing is sorted by."""
        first = entry.path[0] if self.threaded else entry.path[-1]
        return (first if order == "oldest" else -first, entry.path)

    def listing(self, order: Order, viewer: str | None, after: Key | None = None) -> list[Entry]:
        living = [each for each in self.entries if each.state != "deleted" and each.seen_by(viewer)]
        # Comments above living ones keep their places.
        numbers = {number for entry in living for number in entry.path}
        if not self.threaded:
            numbers = {entry.path[-1] for entry in living}
        seen = [self.entries[number] for number in sorted(numbers)]
        ordered = sorted(seen, key=lambda entry: self.key(entry, order))
        return [entry for entry in ordered if after is None or self.key(entry, order) > after]

    def told(self, entry: Entry, viewer: str | None) -> tuple[State, str | None, bool]:
        """Return the state and the text that a viewer is told, and whether there is no author."""
        if entry.state == "deleted" or entry.seen_by(viewer):
            return entry.state, entry.text, entry.author is None
        return entry.state, None, True

    def thread(self, root: Entry, viewer: str | None, after: Key | None = None) -> list[Entry]:
        depth = len(root.path)
        listing = self.listing("oldest", viewer, after)
        return [entry for entry in listing if entry.path[:depth] == root.path]

    def replies_shown(self, entry: Entry, viewer: str | None) -> int:
        """Return how many replies a viewer is told of: moderators all, others the visible."""
        replies = [each for each in self.entries if each.parent == entry.id]
        return sum(viewer == "mo" or each.state == "visible" for each in replies)

    def count(self, state: State) -> int:
        return sum(entry.state == state for entry in self.entries)
