# ruff: noqa: RUF001 - letters that look like others are what this is about
"""Words of texts in thirty scripts and more, found as their readers type them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chalicelib.words import fold, index_tokens, tokens

# A text of each script, and queries that find it.
LINES = [
    ("Latin", "Łódź, Ærøskøbing, Đà Nẵng, Ħal Għaxaq", ["lodz", "ŁÓDŹ", "aeroskobing", "da nang"]),
    ("Latin, Turkish", "Iğdır, Diyarbakır", ["igdir", "IĞDIR", "diyarbakir"]),
    ("Latin, Icelandic", "Þingvellir, Seyðisfjörður", ["thingvellir", "seydisfjordur"]),
    ("Latin, German", "Straßenfußball, cœur, Œuvre", ["strassenfussball", "coeur", "OEUVRE"]),
    ("Greek", "Αθήνα, Θεσσαλονίκης", ["αθηνα", "ΑΘΉΝΑ", "θεσσαλονικης", "ΘΕΣΣΑΛΟΝΙΚΗΣ"]),
    ("Cyrillic", "Пётр, Київ, Ґданськ", ["петр", "ПЁТР", "киів", "гданськ"]),
    ("Armenian", "Երևան, Հայաստան", ["երևան", "Երևան", "ՀԱՅԱՍՏԱՆ"]),
    ("Georgian", "თბილისი, ქართული", ["თბილისი", "ქართული", "ᲗᲑᲘᲚᲘᲡᲘ"]),
    ("Hebrew", "בְּרֵאשִׁית ספר", ["בראשית", "בְּרֵאשִׁית", "ספר"]),
    ("Arabic", "كِتَابٌ جميـــل", ["كتاب", "جميل", "كِتَابٌ"]),
    ("Arabic, Persian", "می\u200cخواهم ۱۲۳", ["می\u200cخواهم", "میخواهم", "123"]),
    ("Syriac", "ܫܠܳܡܳܐ", ["ܫܠܡܐ"]),
    ("Thaana", "ދިވެހި", ["ދިވެހި"]),
    ("Nko", "ߒߞߏ ߞߊ߲", ["ߒߞߏ", "ߞߊ߲"]),
    ("Devanagari", "हिन्दी किताब १२", ["हिन्दी", "किताब", "12"]),
    ("Bengali", "বাংলা বই", ["বাংলা", "বই"]),
    ("Gurmukhi", "ਪੰਜਾਬੀ ਕਿਤਾਬ", ["ਪੰਜਾਬੀ", "ਕਿਤਾਬ"]),
    ("Gujarati", "ગુજરાતી પુસ્તક", ["ગુજરાતી", "પુસ્તક"]),
    ("Odia", "ଓଡ଼ିଆ ବହି", ["ଓଡ଼ିଆ", "ବହି"]),
    ("Tamil", "தமிழ் புத்தகம்", ["தமிழ்", "புத்தகம்"]),
    ("Telugu", "తెలుగు పుస్తకం", ["తెలుగు", "పుస్తకం"]),
    ("Kannada", "ಕನ್ನಡ ಪುಸ್ತಕ", ["ಕನ್ನಡ", "ಪುಸ್ತಕ"]),
    ("Malayalam", "മലയാളം പുസ്തകം", ["മലയാളം", "പുസ്തകം"]),
    ("Sinhala", "සිංහල පොත", ["සිංහල", "පොත"]),
    ("Thai", "กาแฟสดคั่วบด ๒๕๐ กรัม", ["กาแฟ", "คั่วบด", "250", "กรัม"]),
    ("Lao", "ກາເຟລາວ", ["ກາເຟ", "ລາວ"]),
    ("Khmer", "កាហ្វេខ្មែរ", ["កាហ្វេ", "ខ្មែរ"]),
    ("Myanmar", "မြန်မာကော်ဖီ", ["ကော်ဖီ", "မြန်မာ"]),
    ("Tibetan", "བོད་ཀྱི་དེབ", ["བོད", "དེབ"]),
    ("Tai Le", "ᥖᥭᥰᥖᥬᥳ", ["ᥖᥭᥰ"]),
    ("Tai Tham", "ᨲᩫ᩠ᩅᨾᩮᩬᩥᨦ", ["ᨾᩮᩬᩥᨦ"]),
    ("Han", "新鲜咖啡豆", ["咖啡", "新鲜", "豆"]),
    ("Kana", "コーヒー豆、ひきたて", ["コーヒー", "ｺｰﾋｰ", "ひきたて", "豆"]),
    ("Hangul", "원두커피", ["커피", "원두", "\u110f\u1165\u1111\u1175"]),
    ("Bopomofo", "ㄅㄆㄇ", ["ㄅㄆㄇ"]),
    ("Yi", "ꆈꌠꁱꂷ", ["ꁱꂷ"]),
    ("Ethiopic", "ቡና ኢትዮጵያ", ["ቡና", "ኢትዮጵያ"]),
    ("Cherokee", "ᏣᎳᎩ ᎧᏫ", ["ᏣᎳᎩ", "ꮳꮃꭹ"]),
    ("Mongolian", "ᠮᠣᠩᠭᠣᠯ", ["ᠮᠣᠩᠭᠣᠯ"]),
    ("Tifinagh", "ⵜⴰⵎⴰⵣⵉⵖⵜ", ["ⵜⴰⵎⴰⵣⵉⵖⵜ"]),
    ("Javanese", "ꦧꦱꦗꦮ", ["ꦧꦱꦗꦮ"]),
    ("Full width", "\uff23\uff21\uff26\uff25 \uff11\uff12", ["cafe", "12"]),
    ("Soft hyphens", "Kaffee\u00admaschine", ["kaffeemaschine", "kaffee\u00admaschine"]),
]


@pytest.mark.parametrize(("script", "text", "queries"), LINES, ids=[line[0] for line in LINES])
def test_a_line_of_each_script_is_found(script: str, text: str, queries: list[str]) -> None:
    stored = set(index_tokens(text))

    for query in queries:
        assert tokens(query), (script, query)
        assert set(tokens(query)) <= stored, (script, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("กาแฟสดคั่วบด", "ชาเขียว"),
        ("咖啡豆", "豆咖"),
        ("Łódź", "lod"),
        ("كتاب", "كاتب"),
        ("आम", "काम"),
    ],
)
def test_other_words_are_not_found(text: str, query: str) -> None:
    assert not set(tokens(query)) <= set(index_tokens(text))


def test_at_least_thirty_scripts_have_a_line() -> None:
    assert len({name.partition(",")[0] for name, _, _ in LINES}) >= 30


@given(st.text())
@example("\u01ff\u01fd\u04eb")
def test_folding_again_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(min_size=1, max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_a_text_is_found_by_itself_between_other_words(text: str, left: str, right: str) -> None:
    assert set(tokens(text)) <= set(index_tokens(f"{left} {text} {right}"))
