"""Turn tokens into text one at a time, never showing half a character.

A token is a run of bytes, and it may end inside a character: an emoji has
four bytes and often as many tokens. Decoding each token by itself would
print U+FFFD for every part. The cure is to hold back the bytes of an
unfinished character until the next token completes it.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable

from cutaway.tokenizer.errors import TokenizerError


class StreamDecoder:
    """Decodes a stream of token ids.

    Invariants, for any token ids:

    - the pieces that ``push`` and ``finish`` return, joined, are what
      ``Tokenizer.decode`` returns for all ids at once;
    - a character is in the piece of the token that completes it, and at
      most three bytes are held back;
    - bytes that are no UTF-8 become U+FFFD, at the latest with the byte
      after them, and a character left unfinished does in ``finish``;
    - a ``push`` that raises leaves the stream as it was.

    Args:
        token_bytes: Gives the bytes of a token id; raises for a bad one.

    Differs: vLLM and Hugging Face stream by decoding a window of tokens
    again and cutting off a trailing U+FFFD; this decodes every byte once.

    >>> parts = [b"\\xf0\\x9f", b"\\x99", b"\\x82 ok"]
    >>> stream = StreamDecoder(parts.__getitem__)
    >>> [stream.push(0), stream.push(1), stream.push(2), stream.finish()]
    ['', '', '🙂 ok', '']
    """

    def __init__(self, token_bytes: Callable[[int], bytes]) -> None:
        self._token_bytes = token_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._finished = False

    def push(self, token_id: int) -> str:
        """Add a token and return the characters it completes.

        Raises:
            TokenizerError: The id is no token's, or the stream was
                finished.
        """
        if self._finished:
            raise TokenizerError(
                "token_id", f"{token_id!r} after finish()", "a new stream"
            )
        return self._decoder.decode(self._token_bytes(token_id))

    def finish(self) -> str:
        """End the stream; U+FFFD stands for a character left unfinished."""
        self._finished = True
        return self._decoder.decode(b"", final=True)
