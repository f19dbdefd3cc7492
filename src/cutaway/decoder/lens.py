"""What the residual stream would say: logits after every layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_int
from cutaway.decoder.checks import check_next_tokens
from cutaway.decoder.decoder import Decoder
from cutaway.decoder.norms import Norm
from cutaway.layers import from_numpy, inference, to_numpy

if TYPE_CHECKING:
    from jaxtyping import Float, Float64

STREAM = ("embed", "resid")
PARTS = ("embed", "attn_proj", "ffn_out")
NORMED_PARTS = ("embed", "attn_post_norm", "ffn_post_norm")


def logit_lens(
    decoder: Decoder, token_ids: Sequence[int], *, last_only: bool = False
) -> Float[np.ndarray, "layers+1 rows vocab"]:
    """Return the logits that each layer's output would give.

    The final norm and the output matrix are made for the vector after the
    last layer; the lens applies them to the vector after every layer, as
    if the model ended there. Each vector is normalised by itself.

    Args:
        decoder: The model.
        token_ids: The text, at least one token.
        last_only: Read the last token's vector only.

    Returns:
        Entry 0 is read off the embedding, entry l after l layers; the last
        entry holds the model's own logits. One row per token, or one.

    Raises:
        ArgumentError: ``token_ids`` is empty, holds anything but token
            numbers, or goes beyond ``config.max_seq_len``.

    Cost: one pass, and one more product with the output matrix a layer;
    the result takes (layers + 1) x rows x vocab numbers.
    Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
    Differs: TransformerLens' ``accumulated_resid`` without ``recompute_ln``
    divides every layer's vector by the scale of the last one.

    >>> from cutaway.core import ModelConfig
    >>> from cutaway.decoder import Params
    >>> config = ModelConfig(num_layers=2, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> decoder = Decoder(
    ...     config, Params.random(config, 0, impl="numpy"), impl="numpy")
    >>> logit_lens(decoder, [1, 2, 3]).shape
    (3, 3, 5)
    """
    stream = _observed(decoder, token_ids, STREAM, last_only=last_only)
    impl = decoder.impl
    with inference(impl=impl):
        x = from_numpy(stream, impl=impl)
        x = decoder.final_norm(x.reshape(-1, x.shape[-1]))
        logits = to_numpy(decoder.unembed(x), impl=impl)
    return logits.reshape(*stream.shape[:2], -1)


def logit_terms(
    decoder: Decoder, token_ids: Sequence[int], token_id: int
) -> Float64[np.ndarray, " 1+2*layers"]:
    """Split the logit of one token into what each part of the model added.

    The last vector is a sum: the embedding and one addition per half
    layer. The final norm divides that sum by one number, so the logit,
    a dot product, is the sum of the parts' own dot products.

    Args:
        decoder: The model.
        token_ids: The text, at least one token.
        token_id: The token whose logit behind the text is split.

    Returns:
        The terms in the order of the stream: embedding, then attention and
        feed-forward network of each layer. They add up to the logit.

    Raises:
        ArgumentError: As for ``logit_lens``, or ``token_id`` is no token;
            or the model's logits are no such sum, as it ends in a
            LayerNorm or caps them.

    Cost: one pass, and one dot product a part.
    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer
    Circuits", section "Virtual weights and the residual stream".

    >>> from cutaway.core import ModelConfig
    >>> from cutaway.decoder import Params
    >>> config = ModelConfig(num_layers=2, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> decoder = Decoder(
    ...     config, Params.random(config, 0, impl="numpy"), impl="numpy")
    >>> terms = logit_terms(decoder, [1, 2, 3], token_id=4)
    >>> logits = decoder.forward([1, 2, 3], decoder.new_cache(3))
    >>> len(terms), bool(abs(terms.sum() - logits[-1, 4]) < 1e-5)
    (5, True)
    """
    config, impl, params = decoder.config, decoder.impl, decoder.params
    check_int("token_id", token_id, 0, config.vocab_size - 1)
    kind, cap = config.norm.kind, config.logit_softcap
    check(kind != "layer", "config.norm.kind", repr(kind), "an RMSNorm")
    check(cap is None, "config.logit_softcap", cap, "None")
    stages = NORMED_PARTS if config.norm.after else PARTS
    parts = _observed(decoder, token_ids, stages, last_only=True)[:, 0]
    parts = parts.astype(np.float64)
    total = parts.sum(axis=0)
    rms = np.sqrt(np.mean(total * total) + config.norm_eps)
    scale = Norm(config, impl=impl).scale(params.final_norm)
    scale = to_numpy(scale, impl=impl)
    row = to_numpy(params.unembed[token_id], impl=impl)
    return parts @ (scale.astype(np.float64) * row) / rms


def _observed(
    decoder: Decoder,
    token_ids: Sequence[int],
    stages: tuple[str, ...],
    *,
    last_only: bool,
) -> Float[np.ndarray, "seen rows hidden"]:
    """Read a text; return the rows of the named stages, in order."""
    ids = check_next_tokens(token_ids, 0, decoder.config).tolist()
    seen: list[np.ndarray] = []

    def note(stage: str, layer: int | None, array: np.ndarray) -> None:
        if stage in stages:
            seen.append((array[-1:] if last_only else array).copy())

    cache = decoder.new_cache(len(ids))
    decoder.forward(ids, cache, last_only=True, observe=note)
    return np.stack(seen)
