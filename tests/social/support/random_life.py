"""What a few users may do, in any order."""

import random

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from chalicelib.jobs import outbox
from chalicelib.social.messages import JOB
from tests.social.support.drivers import Town, settle
from tests.social.support.interleaving import Meantime
from tests.social.support.reference_model import ModelComment, ModelPost, Village
from tests.support.isolation import empty_collections

PEOPLE = ["ann", "bob", "cy", "dan"]
USERS = st.sampled_from(PEOPLE)
CIRCLE_IDS = st.sampled_from(["name", "work"])
NAMES = st.sampled_from(["Kim", "Lou", "Max"])
AUDIENCES = st.sampled_from([["*public*"], ["*circles*"], ["name"], ["work"], ["name", "work"]])
# What a life begins with, so that most of what follows concerns somebody.
TIES = [
    ("ann", "name", "bob"),
    ("ann", "work", "cy"),
    ("bob", "work", "ann"),
    ("bob", "name", "cy"),
    ("cy", "name", "ann"),
    ("cy", "work", "bob"),
    ("dan", "name", "ann"),
    ("dan", "work", "bob"),
]
POSTS: list[tuple[str, list[str], str | None, bool]] = [
    ("ann", ["*public*"], None, False),
    ("ann", ["name"], "cy", False),
    ("bob", ["work"], None, True),
    ("bob", ["*public*"], "ann", False),
    ("cy", ["*circles*"], None, False),
    ("cy", ["work"], None, False),
    ("ann", ["work"], None, True),
]
SEEDS = st.integers(0, 1_000)


class Life(RuleBasedStateMachine):
    """Users who circle, block, post and comment; messages that come twice and shuffled."""

    town: Town
    meantime: Meantime

    def __init__(self) -> None:
        super().__init__()
        self.client, self.runtime, self.clock = self.town.client, self.town.runtime, self.town.clock
        self.village = Village({person: person.title() for person in PEOPLE})
        self.town.courier.take()
        self.meantime.forget()
        empty_collections(self.runtime.database)
        settle(self.client, *PEOPLE)
        for owner, circle, member in TIES:
            self.circle(owner, circle, member)
        for by, circles, wall, at_post in POSTS:
            self.post(by, circles, wall, at_post=at_post)
            self.clock.advance(seconds=1)

    @rule(owner=USERS, circle=CIRCLE_IDS, name=st.sampled_from(["v1.0", "a..b", "*public*"]))
    def put_or_rename_circle(self, owner: str, circle: str, name: str) -> None:
        self.client.as_(owner).put(f"/users/me/circles/{circle}", name=name)
        self.village.circles.setdefault((owner, circle), set())

    @rule(owner=USERS, circle=CIRCLE_IDS)
    def delete_circle(self, owner: str, circle: str) -> None:
        self.client.as_(owner).delete(f"/users/me/circles/{circle}")
        self.village.delete_circle(owner, circle)

    @rule(owner=USERS, circle=CIRCLE_IDS, member=USERS)
    def circle(self, owner: str, circle: str, member: str) -> None:
        if owner == member:
            return
        if (owner, circle) not in self.village.circles:
            self.put_or_rename_circle(owner, circle, "Made")
        reply = self.client.as_(owner).put(f"/users/me/circles/{circle}/members/{member}")
        if self.village.blocked(owner, member):
            assert reply.code == "cannot_circle"
        else:
            assert reply.status == 204, reply.body
            self.village.circles[owner, circle].add(member)

    @rule(owner=USERS, circle=CIRCLE_IDS, member=USERS)
    def uncircle(self, owner: str, circle: str, member: str) -> None:
        self.client.as_(owner).delete(f"/users/me/circles/{circle}/members/{member}")
        self.village.circles.get((owner, circle), set()).discard(member)

    @rule(owner=USERS, other=USERS, wall=st.booleans())
    def block(self, owner: str, other: str, *, wall: bool) -> None:
        """Block somebody, who perhaps writes to the blocker's wall all the same."""
        if owner == other:
            return
        assert self.client.as_(owner).put(f"/users/me/blocked/{other}").status == 204
        self.village.block(owner, other)
        if wall:
            self.post(other, ["*public*"], owner, at_post=False)

    @rule()
    def unblock_everyone(self) -> None:
        for owner, other in sorted(self.village.blocks):
            self.client.as_(owner).delete(f"/users/me/blocked/{other}")
        self.village.blocks.clear()

    @rule(by=USERS, circles=AUDIENCES, wall=st.none() | USERS, at_post=st.booleans())
    def post(self, by: str, circles: list[str], wall: str | None, *, at_post: bool) -> None:
        for each in circles:
            if not each.startswith("*") and (by, each) not in self.village.circles:
                self.put_or_rename_circle(by, each, "Made")
        at_post = at_post and circles != ["*public*"]
        reply = self.client.as_(by).post(
            "/posts",
            type="status",
            detail={"text": "First"},
            circles=circles,
            wall_owner_id=wall,
            audience="at_post" if at_post else "at_view",
        )
        assert reply.status == 201, reply.body
        kept = frozenset(self.village.members(by, circles)) if at_post else None
        stands_on, now = self.village.wall_for(by, wall), self.runtime.now()
        made = ModelPost(reply.json["id"], by, stands_on, circles, kept, now, "First")
        self.village.posts[made.id] = made

    @precondition(lambda self: self.village.posts)
    @rule(data=st.data(), by=USERS)
    def comment(self, data: st.DataObject, by: str) -> None:
        self.comment_on(self._any_post(data), by)

    def comment_on(self, post: ModelPost, by: str) -> None:
        # Comments of one moment stand in the order of their ids, which is no order of writing.
        self.clock.advance(milliseconds=1)
        text = f"Comment {len(post.comments)}"
        reply = self.client.as_(by).post(f"/posts/{post.id}/comments", text=text)
        if self.village.may_see(by, post):
            assert reply.status == 201, reply.body
            post.comments.append(ModelComment(reply.json["id"], by, text))
        else:
            assert reply.code == "unknown_post"

    @precondition(lambda self: self.village.posts)
    @rule(data=st.data(), caller=USERS, deletes=st.booleans())
    def change_comment(self, data: st.DataObject, caller: str, *, deletes: bool) -> None:
        """Have a user edit or delete a comment, as far as the user may."""
        post = self._any_post(data)
        if not post.comments:
            return
        comment = data.draw(st.sampled_from(post.comments))
        path = f"/posts/{post.id}/comments/{comment.id}"
        if deletes:
            reply = self.client.as_(caller).delete(path)
            may = caller in {comment.by, post.by}
        else:
            reply = self.client.as_(caller).patch(path, text="Changed")
            may = caller == comment.by and self.village.may_see(caller, post)
        if not may:
            assert reply.status in {403, 404}, reply.body
        elif deletes:
            assert reply.status == 204, reply.body
            post.comments.remove(comment)
        elif reply.code != "edit_window_over":
            assert reply.status == 200, reply.body
            comment.text = "Changed"

    @precondition(lambda self: self.village.posts)
    @rule(data=st.data(), text=st.sampled_from(["Second", "Third"]))
    def edit(self, data: st.DataObject, text: str) -> None:
        self._edit(self._any_post(data), text)

    def _edit(self, post: ModelPost, text: str) -> None:
        reply = self.client.as_(post.by).patch(f"/posts/{post.id}", detail={"text": text})
        assert reply.status == 200, reply.body
        post.text = text

    @precondition(lambda self: self.village.posts)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self._delete(self._any_post(data))

    def _delete(self, post: ModelPost) -> None:
        assert self.client.as_(post.by).delete(f"/posts/{post.id}").status == 204
        del self.village.posts[post.id]

    @precondition(lambda self: self.village.posts)
    @rule(data=st.data())
    def take_off_the_wall(self, data: st.DataObject) -> None:
        post = self._any_post(data)
        reply = self.client.as_(post.wall).delete(f"/users/me/wall/{post.id}")
        assert reply.status == (404 if post.wall == post.by else 204), reply.body
        post.wall = post.by

    @rule(user=USERS, name=NAMES)
    def rename(self, user: str, name: str) -> None:
        assert self.client.as_(user).put("/users/me", name=name).status == 200
        self.village.names[user] = name

    @rule(user=USERS, name=NAMES, at=st.sampled_from(["post", "comment", "rename"]), seed=SEEDS)
    def rename_in_the_midst(self, user: str, name: str, at: str, seed: int) -> None:
        """Rename somebody, and propagate it to all copies, while the former name is in use."""

        def renamed() -> None:
            self.rename(user, name)
            self.work(seed)

        command = "insert" if at == "post" else "update"
        self.meantime.before(command, "social.post", renamed)
        if at == "post":
            self.post(user, ["*public*"], None, at_post=False)
        elif at == "comment":
            for post in list(self.village.posts.values())[-1:]:
                self.comment_on(post, user)
        else:
            self.rename(user, "Overtaken")
            self.work(seed)
        if not self.meantime.done():
            self.meantime.forget()
            renamed()

    @rule(days=st.sampled_from([0, 1, 20, 40]))
    def let_time_pass(self, days: int) -> None:
        self.clock.advance(days=days, seconds=1)

    @rule(seed=SEEDS)
    def work(self, seed: int) -> None:
        self.town.courier.deliver(self.runtime, random.Random(seed), twice=True)

    def let_all_end(self, seed: int) -> None:
        """Have all work done, and done again what is looked at twice."""
        self.work(seed)
        if self.runtime.database["social.errand"].find_one({}):
            self.clock.time += outbox.OUTLIVES_ALL
            outbox.sweep(self.runtime, JOB)
            self.work(seed)

    def let_something_happen(self, rng: random.Random) -> None:
        self.clock.advance(seconds=1)
        one, other = rng.sample(PEOPLE, 2)
        # Somebody is scrolling, so there are posts.
        circle, post = rng.choice(["name", "work"]), rng.choice(list(self.village.posts.values()))
        match rng.randrange(6):
            case 0 | 1:
                self.post(one, ["*public*"], other, at_post=False)
            case 2:
                self._delete(post)
            case 3:
                self.comment_on(post, one)
                self._edit(post, "Second")
            case 4:
                self.uncircle(one, circle, other)
                self.circle(other, circle, one)
            case _:
                self.rename(one, "Max")

    def _any_post(self, data: st.DataObject) -> ModelPost:
        return self.village.posts[data.draw(st.sampled_from(sorted(self.village.posts)))]
