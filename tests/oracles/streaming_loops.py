"""StreamingLLM in float64: one token at a time, places counted anew."""

from __future__ import annotations

import numpy as np

from oracles import loops, variant_loops


def kept_tokens(token, capacity, sink_tokens):
    """Numbers of the tokens that a token sees, itself the last."""
    everything = list(range(token + 1))
    if len(everything) <= capacity:
        return everything
    newest = capacity - sink_tokens
    return everything[:sink_tokens] + everything[-newest:]


def attention(q, k, v, *, capacity, sink_tokens, theta, layout, **rules):
    """What each token takes; q and k ``[tokens, heads, dim]`` not rotated.

    A kept token stands where it is in the list of kept tokens.
    """
    out = np.zeros((*q.shape[:2], v.shape[2]))
    for token in range(len(q)):
        kept = kept_tokens(token, capacity, sink_tokens)
        places = list(range(len(kept)))
        keys = loops.rope(k[kept], places, theta, layout)
        query = loops.rope(q[[token]], places[-1:], theta, layout)
        out[token] = variant_loops.attention(query, keys, v[kept], **rules)[0]
    return out
