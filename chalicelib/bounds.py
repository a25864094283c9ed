"""Bounds: how much one step, document or page holds; tests shrink them, deployments do not.

Each feature has a class of its own. A number that no test shrinks stays beside the code it bounds.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CommentBounds:
    """The bounds of comments."""

    # Comments. A request moves a node of up to this many, within its time; a worker moves a larger.
    inline_move_comments: int = 1_000
    # Comments that one step of a removal deletes, so that no single write holds the server long.
    removal_step_comments: int = 1_000
    # Steps that one run of the schedule takes for removals; the next run goes on after them.
    removal_steps: int = 100
    # Comments that one step of a person's erasure deletes, each with its node's counts.
    erasure_step_comments: int = 500
    # Comments that a worker decides on for one message of a batch of moderation: about two seconds.
    batch_items_at_once: int = 100
    # Bytes of a comment's HTML: short Markdown can render to HTML many times its length.
    html_bytes: int = 64 * 1024


@dataclass(frozen=True)
class ContentBounds:
    """The bounds of content."""

    # Bytes of a page's HTML; of its Markdown there are at most 200,000 characters.
    html_bytes: int = 1024 * 1024
    # Newest revisions of a page that are kept, beside all that were live.
    kept_revisions: int = 50
    # Pages whose addresses one call moves, in one transaction.
    moved_at_once: int = 1_000
    # Pages that one run of the schedule makes live or ends.
    tended_at_once: int = 500
    # Messages that a request sends itself; the schedule sends the others within a minute.
    told_at_once: int = 10
    # Tags of a site that are listed, the most used first.
    listed_tags: int = 500


@dataclass(frozen=True)
class AdBounds:
    """The bounds of ads."""

    # Ads of compiled zones that a container keeps, 2 kB each and 9 kB at the largest: with the
    # creatives at most half of the function's 512 MB.
    held_ads: int = 25_000
    # Documents over which the counts of one place and period are shared out, so that workers do
    # not wait for each other.
    report_shards: int = 8
    # Rows of a report as one CSV file: 3 MB, and Lambda answers with at most 6.
    csv_rows: int = 20_000
    # Settlements that one run of the schedule pays.
    paid_settlements: int = 1_000
    # Flights that one run of the schedule ends.
    ended_flights: int = 500


@dataclass(frozen=True)
class SocialBounds:
    """The bounds of the social feed."""

    # Readers in a chunk of a fan-out. Every insert waits once for the journal, whatever its
    # size: decision 0045.
    chunk_readers: int = 5_000
    # Chunks recorded at once: as many as SQS takes messages in one call.
    chunks_at_once: int = 10
    # From this many readers on, a post is delivered to the two halves at the same time.
    halved_from: int = 500
    # Documents for which one sweep sends messages again.
    swept_at_once: int = 1_000
    # Members or followers in a user's document. Adding one to a map of 1,000 takes a
    # millisecond; a document ends at about 226,000.
    embedded_max: int = 1_000
    # Members whom one transaction takes out of a circle: about a third of a second's work.
    members_at_once: int = 1_000
    # Circles of a user; the validator's bound too.
    circles: int = 100
    # Blocks of a reader that come with a page of the feed; who has more, which is rare, takes
    # another query.
    blocks_read: int = 1_000
    # Users whom one user blocks; the validator's bound too.
    blocked: int = 10_000
    # Members in one document of an audience kept at posting; the validator's bound too.
    audience_members: int = 1_000
    # Comments stored on their post, the validator's bound too; older ones have a collection of
    # their own.
    held_on_post: int = 200
    # Comments moved off a full post at once.
    comments_moved_at_once: int = 20
    # Documents examined for a page before it ends early, with a cursor.
    page_examined: int = 2_000
    # Documents fetched at least to fill up a page: a short page takes no more queries.
    page_refill: int = 100
    # An author's newest posts that a new follower gets.
    back_fill_posts: int = 200
    # News stored for a reader: five times what must be complete, as the checks take some out.
    news_kept: int = 5_000
    # Posts renamed at once.
    posts_renamed_at_once: int = 1_000
    # Newest actions of each kind that a refill adds to a feed.
    refill_newest: int = 1_000
    # Actions that a refill adds at once.
    refill_added_at_once: int = 100
    # Items that a refill checks at once.
    refill_checked_at_once: int = 1_000
    # Subscribers for whom an action is re-ranked at once.
    rerank_subscribers: int = 1_000
    # Chunks of subscribers re-ranked for one message: about a second's work. The rest is noted
    # as another message.
    rerank_chunks: int = 20


@dataclass(frozen=True)
class MarkBounds:
    """The bounds of votes and reactions."""

    # Marks of one thing in a minute, from which on they are counted by batch. At ten a second, a
    # thirtieth meet another's transaction; about a hundred a second is all that one thing takes.
    hot_marks_a_minute: int = 600
    # Minutes without a mark after which the next are counted at once again.
    quiet_minutes: int = 10
    # Marks that one transaction carries to another id: half a megabyte of the oplog, of 16.
    carried_at_once: int = 1_000


@dataclass(frozen=True)
class AssetBounds:
    """The bounds of assets."""

    # Uploads that an owner may have begun and not finished.
    unfinished_uploads: int = 100
    # Pictures of one person.
    of_person: int = 500
    # Uploads, and blobs, that one run of the schedule removes.
    swept_at_once: int = 100
    # How long one message moves assets to another store; its worker has 15 minutes.
    move_seconds: int = 600


@dataclass(frozen=True)
class AnalyticsBounds:
    """The bounds of analytics."""

    # Paths that a site counts a day, and values of each other dimension; the rest is `*other*`.
    # Names that are known have as many places again.
    paths: int = 5_000
    sources: int = 1_000
    # Those of them that one network alone has asked for.
    paths_of_one: int = 2_500
    sources_of_one: int = 500
    # Names that a network vouches for a day: 200 networks leave places for others.
    paths_of_network: int = 30
    sources_of_network: int = 6
    # Names of the day before, with the most visitors, that are known.
    top_paths: int = 2_500
    top_sources: int = 500
    # Late names whose hits of before one run of the schedule moves to them.
    late_in_a_run: int = 1_000
    # Names of paths and sources that a worker's container remembers as known.
    names_remembered: int = 50_000
    # Visitors that it remembers, with what they have read: 1 kB each.
    visitors_remembered: int = 20_000
    # Documents over which the counts of one path and day are shared out, so that workers do not
    # wait for each other.
    report_shards: int = 8
    # Rows of a report as one CSV file: 2 MB, and Lambda answers with at most 6.
    csv_rows: int = 20_000
    # Hits that a move copies at once.
    moved_at_once: int = 1_000
    # Copies of a day's hits that one run of the schedule makes, over all moves.
    moved_in_a_run: int = 200_000
    # Report documents that one run of the schedule rewrites in another layout.
    rewritten_in_a_run: int = 20_000
    # Sites whose settings a container remembers, known and unknown ones.
    sites_remembered: int = 1_000


@dataclass(frozen=True)
class ShopBounds:
    """The bounds of shops."""

    # Entries within a stock's document, the validator's bound too; more are documents.
    embedded_entries: int = 128
    # Stocks, carts or orders that one step of a run of the schedule handles.
    tended_at_once: int = 500
    # Products that facets, and a category's page, are counted of: all of 50,000 take a third of a
    # second.
    counted_products: int = 10_000
    # Newest products that are scored for words which very many have.
    scored_products: int = 10_000
    # Products after which a list by `best` ends.
    best_products: int = 1_000
    # Units of a SKU on its shelf.
    on_hand_units: int = 1_000_000_000
    # How long whoever prepares an order may be silent, and how long a sweep has an order.
    order_lease_seconds: int = 60
    # How long a buyer has to pay, before the payment is cancelled.
    payment_seconds: int = 1_800


@dataclass(frozen=True)
class Bounds:
    """The bounds of every feature."""

    comments: CommentBounds = field(default_factory=CommentBounds)
    content: ContentBounds = field(default_factory=ContentBounds)
    ads: AdBounds = field(default_factory=AdBounds)
    social: SocialBounds = field(default_factory=SocialBounds)
    marks: MarkBounds = field(default_factory=MarkBounds)
    assets: AssetBounds = field(default_factory=AssetBounds)
    analytics: AnalyticsBounds = field(default_factory=AnalyticsBounds)
    shop: ShopBounds = field(default_factory=ShopBounds)


BOUNDS = Bounds()
