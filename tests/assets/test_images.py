"""Sizes from headers, and JPEG without what it says of its author."""

import random
import struct
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.assets import images, kinds
from chalicelib.assets.errors import UnreadableImage
from chalicelib.assets.jpeg import strip
from tests.assets.support.files import (
    ADOBE,
    COMMENT,
    GPS,
    ICC,
    IPTC,
    JFIF,
    SCANS,
    XMP,
    avif,
    exif,
    gif,
    jpeg,
    png,
    segment,
    webp,
)

# Exif with an orientation, 6, and nothing else.
ORIENTED = segment(
    0xE1, b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
)
PICTURES = {
    "image/png": png,
    "image/gif": gif,
    "image/webp": webp,
    "image/avif": avif,
    "image/jpeg": jpeg,
}


@pytest.mark.parametrize("kind", PICTURES)
def test_a_header_says_type_and_size(kind: str) -> None:
    picture = PICTURES[kind](640, 480)

    assert kinds.sniff(picture) == kind
    assert images.size_of(picture) == (640, 480)


def test_the_first_bytes_are_enough_of_a_picture_that_goes_on() -> None:
    assert images.size_of(avif(10, 20)[:1_000]) == (10, 20)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("order", [">", "<"])
def test_a_turned_picture_has_the_size_that_it_is_shown_in(orientation: int, order: str) -> None:
    turned = jpeg(640, 480, before=[exif(orientation, order)])
    shown = (480, 640) if orientation > 4 else (640, 480)

    assert images.size_of(turned) == shown
    assert images.size_of(strip(turned)) == shown


def test_the_first_exif_segment_decides() -> None:
    turned = jpeg(640, 480, before=[exif(6), exif(1)])

    assert images.size_of(turned) == (480, 640)
    assert strip(turned) == jpeg(640, 480, before=[ORIENTED])


@pytest.mark.parametrize(
    "picture", [png(0, 5), png(65_536, 1), png(10_001, 10_000), png()[:20], b"", b"\xff\xd8\xff"]
)
def test_a_header_that_says_no_size_or_too_large_a_one_is_refused(picture: bytes) -> None:
    with pytest.raises(UnreadableImage):
        images.size_of(picture)


def test_a_size_that_no_header_names_is_no_refusal() -> None:
    unknown = avif()[:20] + avif()[24:]
    for picture in (unknown, avif()[:30], gif(0, 0)):
        assert images.size_of(picture) is None


def test_the_size_of_an_avif_may_come_after_its_pixels() -> None:
    picture = avif(10, 20)
    pixels = picture.index(b"mdat") - 4
    kind, about = picture[:24], picture[24:pixels]

    assert images.size_of(kind + picture[pixels:] + about) == (10, 20)
    assert images.size_of(kind + struct.pack(">I4sQ", 1, b"mdat", 16) + about) == (10, 20)


def test_a_jpeg_may_have_any_length_before_its_size() -> None:
    picture = jpeg(640, 480, before=[segment(0xE2, b"ICC_PROFILE\0" + bytes(60_000))] * 9)

    assert images.size_of(picture) == (640, 480)
    assert strip(picture) == picture


def test_a_header_may_claim_a_hundred_megapixels() -> None:
    assert images.size_of(png(10_000, 10_000)) == (10_000, 10_000)
    with pytest.raises(UnreadableImage):
        images.size_of(jpeg(65_535, 65_535))


def test_a_jpeg_loses_what_it_says_of_its_author_and_nothing_else() -> None:
    metadata = [exif(6), XMP, IPTC, COMMENT, segment(0xE5, GPS), segment(0xE2, b"MPF\0" + GPS)]
    picture = jpeg(before=[JFIF, *metadata, ICC, ADOBE], after=GPS + exif(1) + b"\xff\xd9")

    clean = strip(picture)

    assert GPS not in clean
    assert clean == strip(clean)
    assert clean == jpeg(before=[JFIF, ORIENTED, ICC, ADOBE])
    assert SCANS in clean


def test_a_jpeg_without_metadata_stays_as_it_is() -> None:
    picture = jpeg(before=[JFIF, ICC])

    assert strip(picture) == picture


@pytest.mark.parametrize("end", [2, 5, 30, 120, -3, -1])
def test_a_jpeg_that_is_cut_is_refused(end: int) -> None:
    with pytest.raises(UnreadableImage):
        strip(jpeg(before=[JFIF])[:end])


@given(st.binary(max_size=300))
def test_what_follows_the_start_never_makes_stripping_fail_otherwise(rest: bytes) -> None:
    for content in (b"\xff\xd8" + rest, jpeg()[:100] + rest, b"\xff\xd8" + exif(3)[:20] + rest):
        _stripped_or_refused(content)


def test_a_changed_byte_never_makes_reading_fail_otherwise() -> None:
    rng = random.Random(1)
    makers: list[Callable[[], bytes]] = [png, gif, webp, avif, lambda: jpeg(before=[exif(6)])]
    for _ in range(2_000):
        picture = bytearray(rng.choice(makers)()[:2_000])
        for _ in range(rng.randint(1, 4)):
            picture[rng.randrange(len(picture))] = rng.randrange(256)
        _stripped_or_refused(bytes(picture))
        try:
            size = images.size_of(bytes(picture))
        except UnreadableImage:
            continue
        assert size is None or min(size) > 0


def _stripped_or_refused(content: bytes) -> None:
    try:
        clean = strip(content)
    except UnreadableImage:
        return
    assert strip(clean) == clean


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"%PDF-1.7\n", "application/pdf"),
        (b"ID3\x03\0", "audio/mpeg"),
        (b"\xff\xfb\x90\x64", "audio/mpeg"),
        (b"\0\0\0\x20ftypisom\0\0\0\0isom", "video/mp4"),
        (b"\0\0\0\x18ftypdash\0\0\0\0iso6mp41", "video/mp4"),
        (b"\0\0\0\x14ftypiso8\0\0\0\0dash", "video/mp4"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0miafavif", "image/avif"),
        (b"\0\0\0\x14ftypmif1\0\0\0\0miafavif", kinds.ANY),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", kinds.ANY),
        (b"\0\0\0\x18ftypqt  \0\0\0\0qt  isom", kinds.ANY),
        (b"\xff\xe3\x90\x64", "audio/mpeg"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", kinds.ANY),
        (b"<!doctype html>", kinds.ANY),
        (b" %PDF-1.7", kinds.ANY),
        (b"RIFF\0\0\0\0WAVE", kinds.ANY),
        (b"\xff\xd9", kinds.ANY),
        (b"", kinds.ANY),
    ],
)
def test_other_files_are_what_their_first_bytes_say(head: bytes, kind: str) -> None:
    assert kinds.sniff(head) == kind
