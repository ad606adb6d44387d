"""From a file's bytes to text: UTF-8, UTF-16 with a mark, older encodings, or no text at all."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_REPLACED = "\ufffd"
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAX_CONTROL = 0.02  # of the bytes; text files have next to none
_MAX_NUL = 0.1
_CHECKED = 65_536
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """`text` is None where the bytes are no text. `exact`: encoding it as UTF-8 gives the bytes
    back, so that an edit loses nothing."""

    text: str | None
    warning: str | None = None
    exact: bool = True


def decode(data: bytes) -> Decoded:
    """The text of a note's bytes. Never raises."""
    for mark, encoding, name in _MARKS:
        if data.startswith(mark):
            return _marked(data[len(mark) :], encoding, name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _undecodable(data, error.start)
    if text.count("\0", 0, _CHECKED) > _MAX_NUL * min(len(text), _CHECKED):
        return _full_of_nul(data)
    return Decoded(text)


def _marked(data: bytes, encoding: str, name: str) -> Decoded:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return Decoded(None, f"skipped: marked as {name}, but it is not (binary?)", exact=False)
    return Decoded(
        text, f"the file is {name}; save it as UTF-8 so that it can be edited", exact=False
    )


def _full_of_nul(data: bytes) -> Decoded:
    for encoding in ("utf-16-le", "utf-16-be"):
        zeros = data[1 if encoding == "utf-16-le" else 0 :: 2].count(0)
        if len(data) % 2 == 0 and zeros * 4 > len(data):
            return _marked(data, encoding, "UTF-16")
    return Decoded(None, "skipped: the file is binary, not text", exact=False)


def _undecodable(data: bytes, at: int) -> Decoded:
    part = data[:_CHECKED]
    if len(_CONTROL.findall(part)) > _MAX_CONTROL * len(part):
        return Decoded(None, "skipped: the file is binary, not text", exact=False)
    text = data.decode("utf-8", "replace")
    where = f"byte 0x{data[at]:02x} at {at}"
    other = sum(char > "\x7f" for char in text)
    if other > 2 * text.count(_REPLACED):
        return Decoded(
            text, f"the file is damaged UTF-8 ({where}); other bytes are kept", exact=False
        )
    text = data.decode("cp1252", "replace")
    return Decoded(text, f"the file is not UTF-8 ({where}); read as Windows-1252", exact=False)
