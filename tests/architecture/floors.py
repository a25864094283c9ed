"""The floors of the house, from the ground up.

A room may import what is on a floor below its own, and nothing beside it or above. Features share
the numbers of floors and nothing else: what two of them need belongs to the ground.
"""

FEATURES = ("comments", "ads", "social", "content", "shop", "analytics")

GROUND: tuple[tuple[str, ...], ...] = (
    ("setting_types",),
    (
        "addresses",
        "bots",
        "bounds",
        "currencies",
        "deadlines",
        "errors",
        "ids",
        "instants",
        "keywords",
        "languages",
        "memory",
        "registered",
        "scripts",
        "settings",
        "spreadsheets",
        "texts",
        "time_zones",
    ),
    ("markdown_tokens",),
    ("markdown", "outgoing", "people.ids", "people.names", "sites.ids", "words"),
    ("database", "signing"),
    ("foreign", "observability"),
    ("account_tokens", "guest_tokens", "key_sets", "messaging", "sealing"),
    ("runtime", "site_tokens"),
    ("identity",),
    ("jobs", "limits", "sites.issuers"),
    ("http",),
    ("atom", "happenings", "mail", "people", "push", "sitemaps", "sites", "terms"),
    ("marks", "notifications"),
    ("webhooks",),
    ("assets.errors", "assets.kinds", "assets.shapes", "web"),
    ("assets.avif", "assets.exif", "assets.ranges"),
    ("assets.jpeg",),
    ("assets.images",),
    ("assets.blobs",),
    ("assets.forms",),
    ("assets.quotas",),
    ("assets.catalogue",),
    ("assets.own", "assets.promotion", "assets.serving", "assets.upkeep", "assets.uploads"),
    ("assets.uses",),
    ("assets.pictures",),
    ("assets.views",),
    ("assets.own_routes",),
    ("assets.jobs", "assets.routes"),
)
COMMENTS: tuple[tuple[str, ...], ...] = (
    ("comments.dialect", "comments.mentions"),
    ("comments.errors", "comments.node_ids", "comments.page_urls", "comments.shapes"),
    ("comments.rendering", "comments.store"),
    ("comments.forms", "comments.permissions", "comments.rendered"),
    ("comments.mark_answers", "comments.sites"),
    ("comments.answers", "comments.judgement", "comments.nodes"),
    ("comments.html_page",),
    ("comments.stores",),
    ("comments.entries", "comments.log", "comments.seen", "comments.spam_check"),
    ("comments.happened", "comments.people", "comments.terms", "comments.watches"),
    ("comments.exports",),
    ("comments.moderation",),
    ("comments.lifecycle",),
    ("comments.discussion",),
    ("comments.writing",),
    ("comments.joining", "comments.sign_in"),
    ("comments.providers",),
    (
        "comments.attached",
        "comments.latest",
        "comments.marking",
        "comments.moderation_routes",
        "comments.personal_data",
        "comments.traces",
        "comments.reading_routes",
        "comments.repair",
    ),
    (
        "comments.acts",
        "comments.notifications",
        "comments.search",
        "comments.spam",
        "comments.watch_routes",
        "comments.webhooks",
    ),
    ("comments.batches", "comments.importing"),
    ("comments.transfers",),
    ("comments.jobs", "comments.routes"),
)
ADS: tuple[tuple[str, ...], ...] = (
    ("ads.bounds", "ads.errors", "ads.ids", "ads.responses"),
    ("ads.accounts", "ads.permissions"),
    ("ads.reports", "ads.visitors"),
    ("ads.inventory",),
    ("ads.budgets",),
    ("ads.billing",),
    ("ads.campaigns", "ads.tracking"),
    ("ads.serving",),
    ("ads.jobs", "ads.routes"),
)
SOCIAL: tuple[tuple[str, ...], ...] = (
    ("social.errors", "social.messages", "social.reactions"),
    ("social.telling",),
    ("social.activity.refs", "social.paging"),
    ("social.delivery",),
    ("social.graph",),
    ("social.activity.org", "social.posts"),
    ("social.activity.actions", "social.timelines"),
    ("social.activity.feed", "social.activity.renaming"),
    ("social.activity.exports", "social.notifications", "social.watched_posts"),
    ("social.activity.personal_data", "social.activity.routes"),
    ("social.personal_export",),
    ("social.jobs", "social.personal_data", "social.routes"),
)
CONTENT: tuple[tuple[str, ...], ...] = (
    ("content.errors", "content.shapes"),
    ("content.slugs", "content.types"),
    ("content.nodes", "content.rendering", "content.settings_forms"),
    ("content.named_assets", "content.rendered", "content.settings", "content.visibility"),
    (
        "content.answers",
        "content.happened",
        "content.settings_routes",
        "content.tag_counts",
        "content.terms",
    ),
    ("content.editing",),
    ("content.publishing",),
    ("content.importing", "content.personal_data", "content.reading"),
    ("content.feeds",),
    ("content.jobs", "content.routes"),
)
SHOP: tuple[tuple[str, ...], ...] = (
    ("shop.errors", "shop.ids", "shop.money", "shop.search"),
    ("shop.settings", "shop.types"),
    ("shop.categories", "shop.settings_routes"),
    ("shop.catalogue",),
    ("shop.payments", "shop.pricing", "shop.stock"),
    ("shop.carts", "shop.importing"),
    ("shop.orders",),
    ("shop.jobs", "shop.routes"),
)
ANALYTICS: tuple[tuple[str, ...], ...] = (
    ("analytics.errors", "analytics.hits"),
    ("analytics.settings", "analytics.visitors"),
    ("analytics.logs", "analytics.permissions"),
    ("analytics.reports",),
    ("analytics.counting", "analytics.sessions"),
    (
        "analytics.personal_data",
        "analytics.schema",
        "analytics.settings_routes",
        "analytics.upkeep",
    ),
    ("analytics.jobs", "analytics.routes"),
)
# Where the features meet.
ROOF = (("wiring",),)

# The stacks stand on the ground, one beside the other.
_STACKS = (COMMENTS, ADS, SOCIAL, CONTENT, SHOP, ANALYTICS)
_ABOVE = range(max(map(len, _STACKS)))
FLOORS: tuple[tuple[str, ...], ...] = (
    *GROUND,
    *(tuple(room for stack in _STACKS for room in (stack[n : n + 1] or ((),))[0]) for n in _ABOVE),
    *ROOF,
)
