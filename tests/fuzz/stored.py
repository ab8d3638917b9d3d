"""Text as the bytes of a file: every codec of Python, byte order marks, line ends of all kinds."""

from __future__ import annotations

import codecs
import encodings
import pkgutil
from functools import cache

from hypothesis import strategies as st

_ENDS = ("\n", "\n", "\n", "\r\n", "\r")
_USUAL = ("latin-1", "iso-8859-15", "cp1252", "utf-8", "ascii", "koi8-r", "utf-7", "shift_jis", "no-such")
_LETTERS = ("é", "ф", "你好", "かな", "한국", "א", "ش", "~\\", "¥", "€", "\u2028")


@cache
def all_codecs() -> tuple[str, ...]:
    """The names of all codecs that Python has, those that are no text encodings too."""
    found = {module.name for module in pkgutil.iter_modules(encodings.__path__)} - {"aliases", "__init__"}
    return tuple(sorted(found))


@st.composite
def stored(draw: st.DrawFn, text: str) -> bytes:
    """``text`` as the bytes of a file: an encoding, a byte order mark, line ends."""
    end = draw(st.sampled_from(_ENDS))
    kind = draw(st.integers(0, 14))
    if draw(st.integers(0, 9)) == 0:
        parts = text.split("\n")
        text = parts[0] + "".join(draw(st.sampled_from(("\n", "\r\n", "\r"))) + part for part in parts[1:])
    elif end != "\n":
        text = text.replace("\n", end)
    if kind == 7:
        return codecs.BOM_UTF8 + text.encode("utf-8", "replace")
    if kind in (8, 10, 11):
        return draw(with_cookie(text, end))
    if kind == 9:
        codec = draw(st.sampled_from(("utf-16", "latin-1", "utf-8", "utf-32", "cp1252")))
        return text.encode(codec, "replace")
    return text.encode("utf-8", "surrogatepass")


@st.composite
def with_cookie(draw: st.DrawFn, text: str, end: str = "\n") -> bytes:
    """``text`` below a comment that declares a codec, with letters of some alphabet, in that codec or another."""
    cookie = draw(st.sampled_from(_USUAL) | st.sampled_from(all_codecs()))
    letters = draw(st.sampled_from(_LETTERS))
    bom = codecs.BOM_UTF8 if draw(st.integers(0, 9)) == 0 else b""
    lines = f"# -*- coding: {cookie} -*-{end}title = '{letters}'  # {letters}{end}"
    used = cookie if draw(st.integers(0, 4)) else draw(st.sampled_from(all_codecs()))
    try:
        body = (lines + text).encode(used, "replace")
    except (LookupError, UnicodeError, ValueError):
        body = (lines + text).encode("utf-8", "surrogatepass")
    kind = draw(st.integers(0, 5))
    if kind == 0 and body:  # bytes that the codec may not be able to write again
        place, wild = draw(st.integers(0, len(body) - 1)), draw(st.binary(min_size=1, max_size=4))
        body = body[:place] + wild + body[place:]
    if kind == 1:
        wild = draw(st.binary(min_size=1, max_size=6))
        body += f"{end}# ".encode() + wild.replace(b"\n", b"").replace(b"\r", b"") + end.encode()
    return bom + body
