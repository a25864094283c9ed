"""Pictures as a well-known library writes them, of every format that a browser shows."""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

from PIL import Image

SIZE = (64, 48)
_LARGE_PROFILE = bytes(200_000)


def _picture(mode: str) -> Image.Image:
    gradient = Image.linear_gradient("L").resize(SIZE)
    picture = gradient.convert(mode)
    if mode in {"LA", "RGBA"}:
        picture.putalpha(gradient)
    return picture


def _write(form: str, mode: str = "RGB", *, orientation: int = 0, **given: Any) -> bytes:
    if orientation:
        given["exif"] = Image.Exif()
        given["exif"][0x0112] = orientation
    file = io.BytesIO()
    _picture(mode).save(file, form, **given)
    return file.getvalue()


def _animate(form: str) -> bytes:
    others = [_picture("RGB").transpose(Image.Transpose.ROTATE_180)]
    return _write(form, save_all=True, append_images=others)


# By name, which begins with the media type.
PICTURES: dict[str, Callable[[], bytes]] = {
    **{
        f"image/png {mode}": partial(_write, "PNG", mode)
        for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
    },
    "image/png moving": partial(_animate, "PNG"),
    "image/jpeg": partial(_write, "JPEG"),
    "image/jpeg progressive": partial(_write, "JPEG", progressive=True),
    "image/jpeg grey": partial(_write, "JPEG", "L"),
    "image/jpeg CMYK": partial(_write, "JPEG", "CMYK"),
    "image/jpeg restarts": partial(_write, "JPEG", restart_marker_blocks=1),
    "image/jpeg large profile": partial(_write, "JPEG", icc_profile=_LARGE_PROFILE),
    "image/gif": partial(_write, "GIF", "P"),
    "image/gif moving": partial(_animate, "GIF"),
    "image/webp": partial(_write, "WEBP"),
    "image/webp lossless": partial(_write, "WEBP", lossless=True),
    "image/webp alpha": partial(_write, "WEBP", "RGBA"),
    "image/webp moving": partial(_animate, "WEBP"),
    "image/avif": partial(_write, "AVIF"),
    "image/avif alpha": partial(_write, "AVIF", "RGBA"),
    "image/avif moving": partial(_animate, "AVIF"),
    **{
        f"image/{form} turned {orientation}": partial(_write, form.upper(), orientation=orientation)
        for form, orientations in {
            "jpeg": range(1, 9),
            "png": (3, 6),
            "webp": (6,),
            "avif": (2, 3, 6, 8),
        }.items()
        for orientation in orientations
    },
}
