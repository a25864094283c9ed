"""Bounds of steps, documents and pages; tests shrink them, deployments do not.

Each feature has its own class. A number that no test shrinks stays beside its code.
"""

from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True)
class CommentBounds:
    """The bounds of comments."""

    # Comments of a node that a request moves within its time; a worker moves larger nodes.
    inline_move_comments: int = 1_000
    # Comments that a step of a removal deletes, so that no write holds the server long.
    removal_step_comments: int = 1_000
    # Steps of removals in a run of the schedule; the next run continues.
    removal_steps: int = 100
    # Comments that a step of a person's erasure deletes, each with its node's counts.
    erasure_step_comments: int = 500
    # Comments that a worker decides for a message of a batch of moderation: about two seconds.
    batch_items_at_once: int = 100
    # Comments that a run of the schedule indexes for a site's search, if its time suffices. A small
    # number is slow: each run in a large discussion reads all comments before its place again.
    indexed_at_once: int = 200_000
    # Bytes of a comment's HTML: short Markdown can render to HTML many times its length.
    html_bytes: int = 64 * 1024


@dataclass(frozen=True)
class ContentBounds:
    """The bounds of content."""

    # Bytes of a page's HTML; its Markdown has at most 200,000 characters.
    html_bytes: int = 1024 * 1024
    # Newest revisions of a page to keep, beside all revisions that were live.
    kept_revisions: int = 50
    # Pages that a call moves to other addresses, in one transaction. After a site's move, a step of
    # the schedule notes as many pages for an update of their discussions.
    moved_at_once: int = 1_000
    # Pages that each sweep of a run handles: it publishes, dates, ends, indexes or counts them, or
    # notes an update of their discussions.
    tended_at_once: int = 500
    # Messages that a request sends by itself; the schedule sends the others within a minute.
    told_at_once: int = 10
    # Tags in a site's list, the most used first.
    listed_tags: int = 500
    # Due pages whose changes a list of tags adds to the stored numbers. With more due pages, the
    # list counts all pages until the schedule has caught up.
    corrected_pages: int = 100


@dataclass(frozen=True)
class AdBounds:
    """The bounds of ads."""

    # Ads of compiled zones in a container's memory, 2 kB each and 9 kB at the largest: with the
    # creatives at most half of the function's 512 MB.
    held_ads: int = 25_000
    # Documents that share the counts of a place and period, so that workers do not wait for each
    # other.
    report_shards: int = 8
    # Rows of a report as a CSV file: 3 MB, and Lambda answers with at most 6.
    csv_rows: int = 20_000
    # Settlements that a run of the schedule reads or writes at once.
    settled_at_once: int = 1_000
    # Flights that a run of the schedule ends.
    ended_flights: int = 500


@dataclass(frozen=True)
class PeopleBounds:
    """The bounds of a person's data that all features share."""

    # People whom a person blocks: each page of comments and posts is compared with them.
    blocked: int = 1_000


@dataclass(frozen=True)
class SocialBounds:
    """The bounds of the social feed."""

    # Readers in a chunk of a fan-out. Every insert waits once for the journal, whatever its
    # size: decision 0045.
    chunk_readers: int = 5_000
    # Chunks recorded at once: as many as the messages of a call to SQS.
    chunks_at_once: int = 10
    # From this many readers on, two threads deliver a post, each to half of the readers.
    halved_from: int = 500
    # Documents whose messages a sweep sends again.
    swept_at_once: int = 1_000
    # Members or followers in a user's document. An addition to a map of 1,000 takes a millisecond;
    # a document is full at about 226,000.
    embedded_max: int = 1_000
    # Members whom a transaction removes from a circle: about a third of a second's work.
    members_at_once: int = 1_000
    # Circles of a user; the validator's bound too.
    circles: int = 100
    # Blocks of a reader in the query of a page of the feed; the few readers with more need another
    # query.
    blocks_read: int = 1_000
    # Users in a user's copy of their blocks; the validator's bound too. Release 0.3.0 took so many.
    blocked: int = 10_000
    # Members in a document of an audience that posting stores; the validator's bound too.
    audience_members: int = 1_000
    # Comments stored on their post, the validator's bound too; older comments have their own
    # collection.
    held_on_post: int = 200
    # Comments moved off a full post at once.
    comments_moved_at_once: int = 20
    # Documents that a page examines before it ends early, with a cursor.
    page_examined: int = 2_000
    # The fewest documents that a query for the rest of a page requests; fewer mean more queries.
    page_refill: int = 100
    # An author's newest posts that a new follower gets.
    back_fill_posts: int = 200
    # Posts stored in the news of a reader, without posts by strangers: five times COMPLETE in
    # `timelines/repair.py`, as checks remove some.
    news_kept: int = 5_000
    # Posts that a change of a person's name updates at once.
    posts_renamed_at_once: int = 1_000
    # Newest actions of each kind that a refill adds to a feed.
    refill_newest: int = 1_000
    # Actions that a refill adds at once.
    refill_added_at_once: int = 100
    # Items that a refill checks at once.
    refill_checked_at_once: int = 1_000
    # Subscribers in a chunk of a re-ranking.
    rerank_subscribers: int = 1_000
    # Chunks of a re-ranking for a message: about a second's work. Another message does the rest.
    rerank_chunks: int = 20
    # Readers in a step that notifies an author's watchers: about a tenth of a second's work.
    watchers_at_once: int = 1_000
    # Steps of a message; another message does the rest.
    watcher_steps: int = 20


@dataclass(frozen=True)
class MarkBounds:
    """The bounds of votes and reactions."""

    # Marks a minute from which a thing counts in batches. At ten a second, one mark in thirty
    # conflicts with another transaction; counting at once bears about a hundred a second.
    hot_marks_a_minute: int = 600
    # Minutes without a mark, after which the thing counts at once again.
    quiet_minutes: int = 10
    # Marks that a transaction carries to another id: half a megabyte of the oplog's 16.
    carried_at_once: int = 1_000


@dataclass(frozen=True)
class AssetBounds:
    """The bounds of assets."""

    # Unfinished uploads of an owner.
    unfinished_uploads: int = 100
    # Pictures of a person.
    of_person: int = 500
    # Uploads, and blobs, that a run of the schedule removes, if its time suffices.
    swept_at_once: int = 2_000
    # Assets that a step of a person's erasure deletes.
    erased_at_once: int = 100
    # Seconds in which a message moves assets to another store; its worker has 15 minutes.
    move_seconds: int = 600


@dataclass(frozen=True)
class AnalyticsBounds:
    """The bounds of analytics."""

    # Unknown names that a site counts on a day: paths, and values each of referrers and campaigns;
    # the rest is `*other*`. Known names have as many places again.
    paths: int = 5_000
    sources: int = 1_000
    # Places for names that only one network has asked for.
    paths_of_one: int = 2_500
    sources_of_one: int = 500
    # Names for which a network may vote on a day: 200 networks leave places for others.
    paths_of_network: int = 30
    sources_of_network: int = 6
    # The names of the day before with the most visitors: they count as known.
    top_paths: int = 2_500
    top_sources: int = 500
    # Late names whose earlier hits a run of the schedule moves from `*other*` to their own rows.
    late_in_a_run: int = 1_000
    # Names of paths and sources that a worker's container remembers as known.
    names_remembered: int = 50_000
    # Visitors that a worker's container remembers, with their pages: 1 kB each.
    visitors_remembered: int = 20_000
    # Documents that share the counts of a path and day, so that workers do not wait for each other.
    report_shards: int = 8
    # Rows of a report as a CSV file: 2 MB, and Lambda answers with at most 6.
    csv_rows: int = 20_000
    # Hits that a move copies at once.
    moved_at_once: int = 1_000
    # Copies of hits that a run of the schedule makes, over all moves.
    moved_in_a_run: int = 200_000
    # Report documents that a run of the schedule rewrites in another layout.
    rewritten_in_a_run: int = 20_000


@dataclass(frozen=True)
class ShopBounds:
    """The bounds of shops."""

    # Entries within a stock's document, the validator's bound too; further entries are documents.
    embedded_entries: int = 128
    # Stocks, carts or orders that a step of a run of the schedule handles.
    tended_at_once: int = 500
    # Products that one count reads, for facets or a category's page: all of 50,000 take a third of
    # a second.
    counted_products: int = 10_000
    # Newest products to score for very frequent words.
    scored_products: int = 10_000
    # Products after which a list by `best` ends.
    best_products: int = 1_000
    # Units of a SKU on its shelf.
    on_hand_units: int = 1_000_000_000
    # The lease of an order, for its preparing call or a sweep.
    order_lease: timedelta = timedelta(seconds=60)
    # Seconds for a buyer to pay; then the payment is cancelled.
    payment_seconds: int = 1_800


@dataclass(frozen=True)
class Bounds:
    """The bounds of every feature."""

    comments: CommentBounds = field(default_factory=CommentBounds)
    content: ContentBounds = field(default_factory=ContentBounds)
    ads: AdBounds = field(default_factory=AdBounds)
    people: PeopleBounds = field(default_factory=PeopleBounds)
    social: SocialBounds = field(default_factory=SocialBounds)
    marks: MarkBounds = field(default_factory=MarkBounds)
    assets: AssetBounds = field(default_factory=AssetBounds)
    analytics: AnalyticsBounds = field(default_factory=AnalyticsBounds)
    shop: ShopBounds = field(default_factory=ShopBounds)


BOUNDS = Bounds()
