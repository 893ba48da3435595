"""Sealed texts once more, in plain Python, from the description in crates/sunprint/src/source/seal.rs: to compare with, and
to look at what is inside. Slow."""

from __future__ import annotations

import functools
import hashlib
import hmac
import struct

_SALT, _HEADER, _TAG, _PART, _APART = 24, 32, 16, 4096, 64
_BLOCK = _PART - _APART


def sealed(key: bytes, purpose: bytes, salt: bytes, number: int, text: bytes) -> bytes:
    """A text sealed with a salt and a number that are chosen."""
    words, stream_key = _keys(key, purpose, salt)
    blocks = [text[first : first + _BLOCK] for first in range(0, max(len(text), 1), _BLOCK)]
    stream = _stream(stream_key, number, _PART * len(blocks))
    whole = salt + struct.pack("<Q", number)
    for place, block in enumerate(blocks):
        part = stream[_PART * place :]
        closed = _xor(block, part[_APART:])
        whole += closed + _tag(words, len(text), place, closed, part)
    return whole


def opened(key: bytes, purpose: bytes, whole: bytes) -> bytes:
    """What was sealed; every tag is compared."""
    words, stream_key = _keys(key, purpose, whole[:_SALT])
    (number,) = struct.unpack("<Q", whole[_SALT:_HEADER])
    body = whole[_HEADER:]
    blocks = [body[first : first + _BLOCK + _TAG] for first in range(0, len(body), _BLOCK + _TAG)]
    length = len(body) - _TAG * len(blocks)
    stream = _stream(stream_key, number, _PART * len(blocks))
    text = b""
    for place, block in enumerate(blocks):
        part = stream[_PART * place :]
        if block[-_TAG:] != _tag(words, length, place, block[:-_TAG], part):
            raise ValueError("a tag does not fit")
        text += _xor(block[:-_TAG], part[_APART:])
    return text


def _keys(key: bytes, purpose: bytes, salt: bytes) -> tuple[tuple[int, ...], bytes]:
    root = _mac(key, b"sunprint seal 1 " + purpose)
    return _words(_mac(root, b"tags")), _mac(root, b"stream" + salt)


@functools.cache
def _words(key: bytes) -> tuple[int, ...]:
    count = 2 + _BLOCK // 8
    return struct.unpack(f"<{count}Q", _stream(key, 0, 8 * count))


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=False))


def _tag(words: tuple[int, ...], length: int, place: int, block: bytes, part: bytes) -> bytes:
    padded = block + bytes(-len(block) % 16)
    numbers = (length, place, *struct.unpack(f"<{len(padded) // 8}Q", padded))
    added = [(number + word) % 2**64 for number, word in zip(numbers, words, strict=False)]
    total = sum(a * b for a, b in zip(added[::2], added[1::2], strict=True))
    return ((total + int.from_bytes(part[:_TAG], "little")) % 2**128).to_bytes(_TAG, "little")


def _stream(key: bytes, number: int, length: int) -> bytes:
    return b"".join(_chacha20(key, counter, number) for counter in range(-(-length // 64)))[:length]


def _chacha20(key: bytes, counter: int, number: int) -> bytes:
    """One block, with a counter and a number of 64 bits each, as in Bernstein's paper."""
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *struct.unpack("<8I", key)]
    start += struct.unpack("<4I", struct.pack("<QQ", counter, number))
    x = start.copy()

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for to, other, turned, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[to] = (x[to] + x[other]) % 2**32
            mixed = x[turned] ^ x[to]
            x[turned] = (mixed << by | mixed >> (32 - by)) % 2**32

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16I", *((a + b) % 2**32 for a, b in zip(x, start, strict=True)))
