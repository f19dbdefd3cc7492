"""How well a model expects a text: the yardstick of a change to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_int
from cutaway.core.protocols import KVCache
from cutaway.decoder.checks import check_next_tokens, check_token_ids
from cutaway.decoder.decoder import Decoder

if TYPE_CHECKING:
    from jaxtyping import Float, Float64


def token_losses(
    decoder: Decoder,
    token_ids: Sequence[int],
    *,
    chunk_size: int = 512,
    cache: KVCache | None = None,
) -> Float64[np.ndarray, " tokens-1"]:
    """Return how unexpected each token of a text is, after those before it.

    Entry i is the negative natural logarithm of the probability that the
    model gives to token i + 1 after tokens 0 to i. The first token has
    nothing before it and no entry.

    Args:
        decoder: The model.
        token_ids: The text, at least two tokens.
        chunk_size: Tokens read in one pass; changes memory, not the
            result, up to rounding.
        cache: An empty cache to read through, perhaps one that drops or
            rounds; None makes one that keeps all.

    Returns:
        One number per token but the first, in nats, float64.

    Raises:
        ArgumentError: There are fewer than two tokens, one is unknown, or
            they go beyond ``config.max_seq_len``; or the cache is not
            empty.

    Cost: one pass over the text; the logits of a chunk take
    4 bytes x chunk_size x vocab.

    >>> from cutaway.core import ModelConfig
    >>> from cutaway.decoder import Params
    >>> config = ModelConfig(num_layers=1, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> decoder = Decoder(
    ...     config, Params.random(config, 0, impl="numpy"), impl="numpy")
    >>> token_losses(decoder, [1, 2, 3]).shape
    (2,)
    """
    check_int("chunk_size", chunk_size, low=1)
    if cache is None:
        check_next_tokens(token_ids, 0, decoder.config)
        cache = decoder.new_cache(max(1, len(token_ids) - 1))
    empty = cache.num_tokens == 0
    check(empty, "cache", f"{cache.num_tokens} tokens", "an empty cache")
    ids = check_token_ids("token_ids", token_ids, decoder.config.vocab_size)
    check(len(ids) >= 2, "token_ids", f"{len(ids)} token", "at least 2 tokens")
    read, expected = ids[:-1], ids[1:]
    losses = np.empty(len(read))
    for start in range(0, len(read), chunk_size):
        chunk = slice(start, start + chunk_size)
        logits = decoder.forward(read[chunk], cache)
        losses[chunk] = [
            _loss(row, token_id)
            for row, token_id in zip(logits, expected[chunk], strict=True)
        ]
    return losses


def _loss(logits: Float[np.ndarray, " vocab"], token_id: int) -> float:
    """Return -ln softmax(logits)[token_id]; one row is widened at a time."""
    z = logits.astype(np.float64)
    z -= z.max()
    return float(np.log(np.exp(z).sum()) - z[token_id])


def perplexity(
    decoder: Decoder,
    token_ids: Sequence[int],
    *,
    chunk_size: int = 512,
    cache: KVCache | None = None,
) -> float:
    """Return exp of the mean loss: the choices the model wavers between.

    1 means that every token was certain; a model that spreads its
    probability evenly has the size of its vocabulary.

    Args:
        decoder: The model.
        token_ids: The text, at least two tokens; no token is added before.
        chunk_size: As for ``token_losses``.
        cache: As for ``token_losses``.

    Raises:
        ArgumentError: As for ``token_losses``.

    Cost: as for ``token_losses``.
    Differs: many scripts cut a long text into windows and forget what
    stands before each; here every token sees the whole text before it.

    >>> from cutaway.core import ModelConfig
    >>> from cutaway.decoder import Params
    >>> config = ModelConfig(num_layers=1, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> decoder = Decoder(
    ...     config, Params.random(config, 0, impl="numpy"), impl="numpy")
    >>> perplexity(decoder, [1, 2, 3]) > 1
    True
    """
    losses = token_losses(
        decoder, token_ids, chunk_size=chunk_size, cache=cache
    )
    return float(np.exp(losses.mean()))
