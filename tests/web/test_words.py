"""The widgets' words: complete in every language, and words for every failure a widget can meet."""

import json
import re
from pathlib import Path

import pytest

from chalicelib.notifications.preferences import KINDS
from contract.compatibility import resolve
from deploy.openapi.files import KEPT

ROOT = Path(__file__).resolve().parents[2]
WORDS = ROOT / "web" / "embed" / "words"
# The plural forms of each language, as Intl.PluralRules has them.
FORMS = {
    "ar": {"zero", "one", "two", "few", "many", "other"},
    "de": {"one", "other"},
    "en": {"one", "other"},
    "es": {"one", "many", "other"},
    "fr": {"one", "many", "other"},
    "it": {"one", "many", "other"},
    "ja": {"other"},
    "nl": {"one", "other"},
    "pl": {"one", "few", "many", "other"},
    "pt-br": {"one", "many", "other"},
    "ru": {"one", "few", "many", "other"},
    "uk": {"one", "few", "many", "other"},
    "zh-cn": {"other"},
}
# Forms that stand for one number, which may be written as a word.
OF_ONE_NUMBER = {("ar", "zero"), ("ar", "one"), ("ar", "two")}
# What the elements call, and the words with which each begins in English.
OPERATIONS = {
    "comments": (
        *("postComment", "editComment", "deleteComment", "listComments", "setCommentState"),
        *("pinComment", "unpinComment", "featureComment", "unfeatureComment"),
    ),
    "feed": (
        *(
            "readMyNews",
            "readMyWall",
            "readMyIncomingPosts",
            "readWall",
            "readFeed",
            "markFeedSeen",
        ),
        *("listPostComments", "listActionComments", "publishPost", "listCircles", "editPost"),
        *(
            "voteInPoll",
            "withdrawVote",
            "getPost",
            "deletePost",
            "takeOffMyWall",
            "commentOnPost",
            "editPostComment",
            "deletePostComment",
            "commentOnAction",
            "reactToAction",
            "withdrawReaction",
        ),
        "getAction",
    ),
    "marks": (
        *("getMarks", "voteOnComment", "reactToComment", "withdrawCommentReaction"),
        *("reactToNode", "withdrawNodeReaction"),
    ),
    "flag": ("flagComment", "withdrawFlag"),
    "person": (
        *("getPerson", "listCommentsOfPerson", "listBlocked", "blockPerson", "unblockPerson"),
    ),
    "bell": ("listNotifications", "markNotificationsSeen", "markNotificationsRead"),
    "letters": ("getNotificationMail", "putNotificationMail"),
    "choices": ("getNotificationPreferences", "putNotificationPreferences"),
    "push": ("getPushKey", "putPushBrowser", "listPushBrowsers", "deletePushBrowser"),
    "watch": ("getWatch", "putWatch", "deleteWatch"),
    "cart": (
        *("openCart", "getCart", "claimCart", "putLine", "deleteLine", "holdCart"),
        *("checkOutCart", "getOrder", "lookAtPayment", "cancelOrder", "listMyOrders"),
    ),
}
OF = {
    "comments": ("common", "form", "comments", "acts"),
    "feed": ("common", "form", "feed", "writing"),
    "marks": ("common", "form", "comments", "acts", "marks"),
    "flag": ("common", "form", "comments", "acts", "flag"),
    "person": ("common", "form", "comments", "acts", "person"),
    "bell": ("common", "bell"),
    "letters": ("common", "bell", "letters"),
    "choices": ("common", "bell", "choices"),
    "push": ("common", "bell", "push"),
    "watch": ("common", "watch"),
    "cart": ("common", "cart"),
}
# What is told by how much is left, and what only a fault of the element itself would meet.
TOLD_OTHERWISE = {
    "bell": {"invalid_json", "body_too_large", "unsupported_media_type", "invalid_request"},
    "letters": {"invalid_json", "body_too_large", "unsupported_media_type"},
    "choices": {
        *("invalid_json", "body_too_large", "unsupported_media_type", "invalid_request"),
        # Its box cannot be changed.
        "notification_always_on",
    },
    "push": {"invalid_json", "body_too_large", "unsupported_media_type", "invalid_request"},
    "watch": {
        *("invalid_json", "body_too_large", "unsupported_media_type", "invalid_request"),
        # The choice goes.
        *("not_enabled", "unknown_node"),
    },
    "cart": {
        "out_of_stock",
        *("invalid_json", "body_too_large", "unsupported_media_type", "idempotency_key_reused"),
    },
}
# The matters that have plural forms.
NUMBERED = {
    "bell": ["unseen"],
    "common": ["count"],
    "comments": ["fresh"],
    "feed": ["posts"],
    "cart": ["left"],
}
MATTERS = sorted(file.stem for file in (WORDS / "en").glob("*.js"))
_HEAD = re.compile(r"// @ts-check\n// [^\n]+\nexport default \{\n")
_PAIR = re.compile(r'\s*(?:"([a-z.]+)"|(\w+)):\s*("(?:[^"\\\n]|\\.)*"),\n')


def words(tag: str, *matters: str) -> dict[str, str]:
    """Read some matters of a language; refuse all but plain texts, each key once."""
    read: dict[str, str] = {}
    for matter in matters:
        more = read_file(WORDS / tag / f"{matter}.js")
        assert not read.keys() & more.keys()
        read |= more
    return read


def read_file(path: Path) -> dict[str, str]:
    source, name = path.read_text(), f"{path.parent.name}/{path.stem}"
    head = _HEAD.match(source)
    assert head, f"{name} does not begin as the others do"
    read: dict[str, str] = {}
    at = head.end()
    while pair := _PAIR.match(source, at):
        key = pair[1] or pair[2]
        assert key not in read, f"{name} has {key} twice"
        read[key] = json.loads(pair[3])
        at = pair.end()
    assert source[at:] == "};\n", f"{name} cannot be read from here: {source[at : at + 60]!r}"
    return read


def plain(read: dict[str, str]) -> dict[str, str]:
    return {key: text for key, text in read.items() if "." not in key}


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def test_every_language_has_every_matter() -> None:
    assert {each.name for each in WORDS.iterdir()} == set(FORMS)
    for tag in FORMS:
        assert sorted(file.stem for file in (WORDS / tag).iterdir()) == MATTERS, tag


@pytest.mark.parametrize("tag", FORMS)
def test_a_language_has_all_words_and_the_same_placeholders(tag: str) -> None:
    for matter in MATTERS:
        english, own = plain(words("en", matter)), plain(words(tag, matter))
        assert set(own) == set(english), matter
        for key, text in own.items():
            assert text.strip() == text != ""
            assert placeholders(text) == placeholders(english[key]), key


@pytest.mark.parametrize("tag", FORMS)
def test_a_language_has_its_own_plural_forms(tag: str) -> None:
    for matter in MATTERS:
        own, keys = words(tag, matter), NUMBERED.get(matter, [])
        numbered = {key: text for key, text in own.items() if "." in key}
        assert set(numbered) == {f"{key}.{form}" for key in keys for form in FORMS[tag]}, matter
        for key, text in numbered.items():
            spelt = {"n"} if (tag, key.partition(".")[2]) in OF_ONE_NUMBER else set()
            all_of_it = placeholders(words("en", matter)[f"{key.partition('.')[0]}.other"])
            assert all_of_it - spelt <= placeholders(text) <= all_of_it, key


@pytest.mark.parametrize("tag", sorted(set(FORMS) - {"en", "de"}))
def test_words_that_no_native_speaker_has_read_say_so(tag: str) -> None:
    heads = {file.read_text().splitlines()[1] for file in (WORDS / tag).iterdir()}

    assert heads == {"// Not yet read by a native speaker."}


def test_every_word_that_an_element_says_is_there() -> None:
    sources = "".join(each.read_text() for each in WORDS.parent.glob("*.js"))
    said = set(re.findall(r'\bt\("(\w+)"', sources))

    known = {key for matter in MATTERS for key in words("en", matter)}
    assert len(said) > 30
    assert {key for key in said if key not in known and f"{key}.other" not in known} == set()


def test_every_kind_of_notification_has_a_sentence() -> None:
    # As `inbox.js` looks for it.
    assert {kind.rpartition(".")[2] for kind in KINDS} <= set(words("en", "bell"))


def test_every_type_of_action_has_a_sentence() -> None:
    document = json.loads(KEPT.read_text())
    action = document["components"]["schemas"]["FeedActionAnswer"]
    *own, _ = action["properties"]["descriptor"]["anyOf"]
    types = {resolve(document, each)["properties"]["type"]["const"] for each in own}

    assert {f"did_{name}" for name in types} == {
        key for key in words("en", "writing") if key.startswith("did_")
    }


@pytest.mark.parametrize("element", OPERATIONS)
def test_every_failure_of_the_caller_has_words(element: str) -> None:
    document = json.loads(KEPT.read_text())
    operations = [
        operation
        for path in document["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict) and operation.get("operationId") in OPERATIONS[element]
    ]
    codes = {
        code
        for operation in operations
        for status, answer in operation["responses"].items()
        if "400" <= status < "500"
        for code in resolve(document, answer)["x-problem-codes"]
    }

    assert len(operations) == len(OPERATIONS[element])
    assert codes - set(words("en", *OF[element])) == TOLD_OTHERWISE.get(element, set())
