"""Arithmetic intensity in closed form: FLOPs per byte of an operation.

Each operand is read once and the result written once; what happens between
stays on the chip. ``forward_counts`` counts the same work for a whole model.
"""

from __future__ import annotations

from cutaway.core.checks import check, check_int, check_real
from cutaway.roofline.hardware import Hardware


def gemm_intensity(
    rows: int, width_in: int, width_out: int, bytes_per_element: float = 2
) -> float:
    """Return the intensity of ``[rows, in] x [in, out]``.

    With two bytes an element it is ``B D F / (B D + D F + B F)``, which is
    nearly B, the rows, as long as both widths are much larger.

    Args:
        rows: Tokens that are multiplied: batch times tokens of each.
        width_in: Length of a row.
        width_out: Length of a row of the result.
        bytes_per_element: Of all three matrices.

    >>> round(gemm_intensity(1, 4096, 4096), 3)
    1.0
    >>> round(gemm_intensity(512, 4096, 4096), 1)
    409.6
    """
    sizes = _sizes(rows=rows, width_in=width_in, width_out=width_out)
    b, d, f = sizes
    size = check_real("bytes_per_element", bytes_per_element, 0, open_low=True)
    return 2 * b * d * f / (size * (b * d + d * f + b * f))


def gemm_critical_rows(
    width_in: int,
    width_out: int,
    hardware: Hardware,
    dtype: str = "bfloat16",
    bytes_per_element: float = 2,
) -> float | None:
    """Return the rows from which a matrix product waits for arithmetic.

    The closed form of the intensity, solved for the rows. Reading and
    writing the rows themselves makes it more than the ridge point, and a
    small matrix never gets there.

    Args:
        width_in: Length of a row.
        width_out: Length of a row of the result.
        hardware: The machine.
        dtype: Which of its peaks the product reaches.
        bytes_per_element: Of all three matrices.

    Returns:
        The rows, not rounded; None if no number of rows is enough.

    Raises:
        ArgumentError: A size is not positive, or the machine has no peak
            for ``dtype``.

    >>> from cutaway.roofline.hardware import hardware
    >>> h100 = hardware("h100-sxm")
    >>> round(gemm_critical_rows(4096, 14336, h100), 1)
    325.5
    >>> gemm_critical_rows(576, 192, h100) is None
    True
    """
    d, f = _sizes(width_in=width_in, width_out=width_out)
    size = check_real("bytes_per_element", bytes_per_element, 0, open_low=True)
    ridge = hardware.ridge(dtype) * size / 2
    left = d * f - ridge * (d + f)
    return ridge * d * f / left if left > 0 else None


def mlp_intensity(
    num_tokens: int,
    hidden_size: int,
    ffn_size: int,
    bytes_per_element: float = 2,
) -> float:
    """Return the intensity of a gated feed-forward network.

    With two bytes an element ``3 N D F / (2 N D + 2 N F + 3 D F)``: three
    matrices, the input and the output, and the results of gate and up,
    written once. Nearly N, the tokens of all sequences together.

    Args:
        num_tokens: Batch times tokens of each.
        hidden_size: Width outside.
        ffn_size: Width inside.
        bytes_per_element: Of everything.

    Source: CS336 (2025), inference lecture.

    >>> round(mlp_intensity(64, 4096, 14336), 2)
    63.15
    """
    n, d, f = _sizes(
        num_tokens=num_tokens, hidden_size=hidden_size, ffn_size=ffn_size
    )
    size = check_real("bytes_per_element", bytes_per_element, 0, open_low=True)
    return 6 * n * d * f / (size * (2 * n * d + 2 * n * f + 3 * d * f))


def attention_intensity(
    q_len: int,
    kv_len: int,
    num_heads: int = 1,
    num_kv_heads: int = 1,
    bytes_per_element: float = 2,
) -> float:
    """Return the intensity of attention whose scores stay on the chip.

    With two bytes an element ``S T / (S + T H_kv / H)``: queries are read
    and outputs written once a query head, keys and values once a
    key/value head. The batch does not enter: every sequence has keys and
    values of its own. One query cannot exceed ``H / H_kv``.

    Args:
        q_len: Queries of a sequence; 1 in decode.
        kv_len: Keys; all of them count, as without a mask.
        num_heads: Query heads.
        num_kv_heads: Key/value heads; divides ``num_heads``.
        bytes_per_element: Of queries, keys, values and outputs.

    Source: CS336 (2025), inference lecture, for ``H = H_kv``.

    >>> round(attention_intensity(1, 1024), 4)
    0.999
    >>> round(attention_intensity(1, 1024, num_heads=32, num_kv_heads=8), 3)
    3.984
    """
    s, t = _sizes(q_len=q_len, kv_len=kv_len)
    h, h_kv = _sizes(num_heads=num_heads, num_kv_heads=num_kv_heads)
    expected = f"a divisor of num_heads = {h}"
    check(h % h_kv == 0, "num_kv_heads", h_kv, expected)
    size = check_real("bytes_per_element", bytes_per_element, 0, open_low=True)
    return 2 * s * t * h / (size * (s * h + t * h_kv))


def mla_decode_intensity(
    num_heads: int,
    latent_width: int = 512,
    rope_width: int = 64,
    bytes_per_element: float = 2,
) -> float:
    """Return the intensity of latent attention in decode, long contexts.

    All heads read the same short vector of a token: a score takes its
    whole width, the weighted sum the part that stands for values.

    Args:
        num_heads: Query heads.
        latent_width: Numbers that keys and values are made from.
        rope_width: Numbers of the rotary key that all heads share.
        bytes_per_element: Of what is cached.

    Source: DeepSeek-V2, arXiv 2405.04434, section 2.1, absorbed form.

    >>> round(mla_decode_intensity(128), 1)
    241.8
    """
    heads, latent, rope = _sizes(
        num_heads=num_heads, latent_width=latent_width, rope_width=rope_width
    )
    size = check_real("bytes_per_element", bytes_per_element, 0, open_low=True)
    cached = latent + rope
    return 2 * heads * (cached + latent) / (size * cached)


def _sizes(**named: int) -> tuple[int, ...]:
    """Return the sizes, each checked to be a positive integer."""
    return tuple(check_int(name, value, low=1) for name, value in named.items())
