"""The operations that ask every shard, each with the reason why it may.

A name is the function that asks, what it does, and the collection. One that is missing fails
its test; one that nothing does any more fails the whole suite.
"""

_REASONS: dict[str, tuple[str, ...]] = {
    "a sweep: once a minute or less, whatever is due, by a small index of its own": (
        "ads.budgets.refresh_all: find ad.campaign",
        "ads.campaigns.end_flights: find ad.campaign",
        "ads.leases.end_expired: find ad.lease",
        "ads.settlements.settle: find ad.settlement",
        "ads.transfers._in_state: find ad.transfer",
        "ads.transfers._undo_strays: find ad.account",
        "ads.visitors.trim: find ad.user",
        "comments.promotion.resend_wanted: find comments.node",
        "comments.promotion.sweep: find comments.generation",
        "comments.upkeep.repair_counts: find comments.node",
        "social.errands.sweep: find social.errand",
        "social.leases.expired: find feed.action",
        "social.leases.expired: find social.post",
        "social.month_copies.MonthCopies.truncate_comments: update social.news",
        "social.month_copies.MonthCopies.truncate_comments: update social.wall",
        "social.news.mark_away: update social.user",
        "social.spreading.sweep: find social.post",
    ),
    "a schedule that goes through what all have done since it last ran": (
        "ads.estimates.counted_zones: aggregate ad.count",
        "ads.rolling._make: aggregate ad.report.day",
        "ads.rolling._make: aggregate ad.report.month",
        "ads.rolling.estimate: aggregate ad.report.day",
        "ads.rolling.roll_up: distinct ad.report.day",
        "ads.settlements._earned: aggregate ad.report.day",
        "ads.settlements._earned: distinct ad.report.day",
        "comments.upkeep.render_again: find comments.node",
        "social.graph.recount: find social.user",
    ),
    "a site's report: each shard has some of the campaigns that ran there": (
        "ads.reports.read: aggregate ad.report.day",
        "ads.reports.read: aggregate ad.report.hour",
        "ads.reports.read: aggregate ad.report.month",
        "ads.reports.read: aggregate ad.report.week",
        "ads.reports.read: aggregate ad.report.year",
    ),
    "reconciling, by hand: a campaign's raw events lie where their ids put them": (
        "ads.reconciling._grouped: aggregate ad.event",
    ),
    "the zones that a campaign stands in, when it is activated, changed or ends": (
        "ads.zones.clear: update ad.zone",
        "ads.zones.place: update ad.zone",
    ),
    "the moderation queue of those who moderate every site": (
        "comments.moderation.list_pending: find comments.pending",
    ),
    "followers lie with those who follow: fan-out, counts, and the page that lists them": (
        "social.graph_stores.edges.EdgeGraph._people: find social.edge",
        "social.graph_stores.edges.EdgeGraph.count_followers: aggregate social.edge",
        "social.graph_stores.edges.EdgeGraph.follower_ids: aggregate social.edge",
    ),
    "posts by author or wall, in the designs that read them where they are": (
        "social.pull._entries: find social.post",
        "social.walls.WallOfPosts.newest: find social.post",
    ),
    "a page of incoming of one who was promoted: the few above the line, not the many followers": (
        "social.pull._above_line_around: find social.user",
    ),
    "audiences `at_post` by member, for what was sent and is pulled": (
        "social.pull._kept: find social.audience",
    ),
    "the list of failed fan-outs, for staff": (
        "social.progress.failed_of: find feed.action",
        "social.progress.failed_of: find social.post",
    ),
    "every copy of one thing, in the background: each reader's lies with the reader": (
        "social.activity.items.remove: delete feed.item",
        "social.activity.items.show_or_hide: update feed.item",
        "social.activity.items.subscribers: find feed.item",
        "social.month_copies.MonthCopies._pull: update social.news",
        "social.month_copies.MonthCopies._pull: update social.wall",
        "social.month_copies.MonthCopies.refresh: update social.news",
        "social.month_copies.MonthCopies.refresh: update social.wall",
        "social.news_items.NewsItems.remove: delete social.news_item",
    ),
    "a rename or an erasure, in the background: one person's, wherever they are named": (
        "social.activity.erasure._forget_event: delete social.errand",
        "social.activity.erasure._forget_mentions: update feed.action",
        "social.activity.erasure._forget_place: update feed.org",
        "social.activity.erasure._forget_place: update feed.person",
        "social.activity.erasure.erase: find feed.action",
        "social.activity.erasure.erase: find feed.event",
        "social.activity.naming._on_actions: update feed.action",
        "social.activity.naming.rename_user: update feed.action",
        "social.activity.naming.rename_user: update feed.event",
        "social.audiences.forget_member: delete social.audience",
        "social.audiences.forget_member: update social.audience",
        "social.erasure._erase_comments: find social.post",
        "social.erasure._erase_comments: find social.post_comment",
        "social.erasure._erase_posts: find social.post",
        "social.erasure._leave_graph: update social.user",
        "social.erasure.remaining: aggregate feed.action",
        "social.erasure.remaining: aggregate feed.event",
        "social.erasure.remaining: aggregate feed.org",
        "social.erasure.remaining: aggregate feed.person",
        "social.erasure.remaining: aggregate social.audience",
        "social.erasure.remaining: aggregate social.edge",
        "social.erasure.remaining: aggregate social.post",
        "social.erasure.remaining: aggregate social.post_comment",
        "social.erasure.remaining: aggregate social.user",
        "social.renaming._on_posts: find social.post",
        "social.renaming.rename: update social.post_comment",
    ),
    "an action's audience by team or department, in the background": (
        "social.activity.audience.of: find feed.person",
        "social.activity.refill._due: find feed.action",
    ),
    "the slices: actions by what they mention or are tagged with": (
        "social.activity.slices._slice: find feed.action",
    ),
}
SHARD_EXCEPTIONS: dict[str, str] = {
    name: reason for reason, names in _REASONS.items() for name in names
}
