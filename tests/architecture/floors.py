"""The floors of the house, from the ground up.

A room may import what is on a floor below its own, and nothing beside it or above. Features share
the numbers of floors and nothing else: what two of them need belongs to the ground.
"""

FEATURES = ("comments", "ads", "social")

GROUND: tuple[tuple[str, ...], ...] = (
    ("bounds", "errors", "ids", "instants", "lookalikes", "settings", "texts"),
    ("database", "names", "signing"),
    ("observability",),
    ("key_sets", "messaging"),
    ("identity", "runtime"),
    ("limits",),
    ("http",),
)
COMMENTS: tuple[tuple[str, ...], ...] = (
    ("comments.errors", "comments.node_ids", "comments.shapes"),
    ("comments.store",),
    ("comments.models", "comments.order", "comments.permissions", "comments.rendering"),
    ("comments.answers", "comments.nodes"),
    ("comments.stores",),
    ("comments.moderation",),
    ("comments.lifecycle",),
    ("comments.discussion",),
    ("comments.authors", "comments.repair"),
    ("comments.routes", "comments.schedules", "comments.workers"),
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
    ("ads.routes", "ads.schedules", "ads.workers"),
)
SOCIAL: tuple[tuple[str, ...], ...] = (
    ("social.errors", "social.messages"),
    ("social.activity.refs", "social.paging"),
    ("social.delivery",),
    ("social.outbox",),
    ("social.graph",),
    ("social.activity.org", "social.posts"),
    ("social.activity.actions", "social.timelines"),
    ("social.activity.feed", "social.activity.renaming"),
    ("social.activity.erasure", "social.activity.routes"),
    ("social.personal_data",),
    ("social.routes", "social.schedules", "social.workers"),
)
# Every collection of every feature, in one list.
ROOF = (("schema",),)

# The stacks stand on the ground, one beside the other.
_ABOVE = range(max(map(len, (COMMENTS, ADS, SOCIAL))))
FLOORS: tuple[tuple[str, ...], ...] = (
    *GROUND,
    *(
        tuple(room for stack in (COMMENTS, ADS, SOCIAL) for room in (stack[n : n + 1] or ((),))[0])
        for n in _ABOVE
    ),
    *ROOF,
)
# What one feature may ask of another until the ground has a room for it.
ACROSS = {
    # An erasure and a new name follow a person everywhere.
    ("social.personal_data", "comments.authors"),
}
