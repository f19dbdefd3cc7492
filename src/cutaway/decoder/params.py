"""The weights of a decoder, named as the forward pass reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_choice, check_int, check_shape
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.decoder.support import check_supported
from cutaway.layers import from_numpy
from cutaway.weights import decoder_names, hf_decoder_names, unpermute_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from jaxtyping import Float

    from cutaway.weights import GGUFFile, HFFolder


@dataclass(frozen=True)
class LayerParams:
    """Weights of one decoder layer; matrices are ``[out, in]``."""

    attn_norm: Float[Any, " hidden"]
    wq: Float[Any, "heads*head_dim hidden"]
    wk: Float[Any, "kv_heads*head_dim hidden"]
    wv: Float[Any, "kv_heads*head_dim hidden"]
    wo: Float[Any, "hidden heads*head_dim"]
    ffn_norm: Float[Any, " hidden"]
    w_gate: Float[Any, "ffn hidden"]
    w_up: Float[Any, "ffn hidden"]
    w_down: Float[Any, "hidden ffn"]


@dataclass(frozen=True)
class Params:
    """Weights of a whole decoder.

    Attributes:
        embed: One row per token of the vocabulary.
        layers: One entry per decoder layer.
        final_norm: Scale of the last normalisation.
        unembed: One row per token; the very array ``embed`` when tied.
    """

    embed: Float[Any, "vocab hidden"]
    layers: tuple[LayerParams, ...]
    final_norm: Float[Any, " hidden"]
    unembed: Float[Any, "vocab hidden"]

    @classmethod
    def from_gguf(
        cls,
        file: GGUFFile,
        config: ModelConfig,
        *,
        impl: str,
        dtype: str = "float32",
    ) -> Params:
        """Dequantise all weights of an open GGUF file.

        Args:
            file: The file; it may be closed afterwards.
            config: The model's sizes, which the tensors must match.
            impl: ``"numpy"`` or ``"torch"``: what the arrays are.
            dtype: ``"float32"`` or ``"float64"``.

        Raises:
            ArgumentError: A tensor is missing, has another shape, or is
                one that this decoder would ignore (a bias, for instance).

        Cost: 4 bytes a weight in float32; nothing is copied afterwards.
        """
        names = decoder_names(config.num_layers)
        return _from_file(file, names, config, impl, dtype)

    @classmethod
    def from_hf(
        cls,
        folder: HFFolder,
        config: ModelConfig,
        *,
        impl: str,
        dtype: str = "float32",
    ) -> Params:
        """Read all weights of an open Hugging Face folder.

        Rows of q and k stay in the order of the folder, half-split:
        ``config.rope_layout`` must say so, as ``ModelConfig.from_hf`` does.

        Args:
            folder: The folder; it may be closed afterwards.
            config: The model's sizes, which the tensors must match.
            impl: ``"numpy"`` or ``"torch"``: what the arrays are.
            dtype: ``"float32"`` or ``"float64"``.

        Raises:
            ArgumentError: As for ``from_gguf``; or the layout is another.

        Cost: as for ``from_gguf``.
        """
        layout = config.rope_layout
        right = layout == "half_split"
        check(right, "config.rope_layout", repr(layout), "'half_split'")
        names = hf_decoder_names(config.num_layers)
        return _from_file(folder, names, config, impl, dtype)

    def to_hf(self, config: ModelConfig) -> dict[str, np.ndarray]:
        """Return the weights under the names that a folder gives them.

        Args:
            config: The model; if its q and k rows are interleaved, copies
                of those are put in half-split order.

        Returns:
            Arrays by name, ``lm_head.weight`` only where it is not tied.
            Most share their memory with these weights: do not write.

        Cost: a copy of the q and k matrices at most.

        >>> config = ModelConfig(num_layers=1, hidden_size=8, num_heads=2,
        ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
        ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
        >>> params = Params.random(config, 0, impl="numpy")
        >>> params.to_hf(config)["model.layers.0.self_attn.k_proj.weight"].shape
        (4, 8)
        """
        rows = {"wq": config.num_heads, "wk": config.num_kv_heads}
        found = {}
        for theirs, ours in hf_decoder_names(config.num_layers).items():
            if ours == "unembed" and config.tie_embeddings:
                continue
            array = np.asarray(self[ours])
            heads = rows.get(ours.rpartition(".")[2])
            if heads is not None and config.rope_layout == "interleaved":
                array = unpermute_rows(array, heads)
            found[theirs] = array
        return found

    def __getitem__(self, name: str) -> Any:
        """Return a weight by its name, such as ``layers[0].wq``.

        Raises:
            ArgumentError: There is none of that name.
        """
        match = re.fullmatch(r"(?:layers\[(\d+)\]\.)?(\w+)", str(name))
        place: Any = self
        if match and match[1] and int(match[1]) < len(self.layers):
            place = self.layers[int(match[1])]
        known = match is not None and (place is self) == (match[1] is None)
        weights = {field.name for field in fields(place)} - {"layers"}
        if match is None or not known or match[2] not in weights:
            expected = "the name of a weight, such as layers[0].wq"
            raise ArgumentError("name", repr(name), expected)
        return getattr(place, match[2])

    @classmethod
    def random(
        cls,
        config: ModelConfig,
        seed: int,
        *,
        impl: str,
        dtype: str = "float32",
    ) -> Params:
        """Draw weights for a model that need not say anything sensible.

        The same seed gives the same numbers whatever ``impl`` and, up to
        rounding, whatever ``dtype``.

        Args:
            config: The model's sizes.
            seed: Seed of the generator.
            impl: ``"numpy"`` or ``"torch"``: what the arrays are.
            dtype: ``"float32"`` or ``"float64"``.

        Raises:
            ArgumentError: The seed is negative, the dtype unknown, or the
                model has what the decoder does not compute.

        Cost: one draw a weight.

        >>> config = ModelConfig(num_layers=2, hidden_size=8, num_heads=4,
        ...     num_kv_heads=2, head_dim=6, ffn_size=8, vocab_size=5,
        ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
        >>> params = Params.random(config, 0, impl="numpy")
        >>> params.layers[1].wq.shape, params.layers[1].wk.shape
        ((24, 8), (12, 8))
        """
        check_supported(config)
        rng = np.random.default_rng(check_int("seed", seed, low=0))

        def draw(name: str, shape: tuple[int, ...]) -> np.ndarray:
            array = rng.standard_normal(shape)
            if name.endswith("norm"):
                array = 1 + array / 10
            elif name != "embed":
                array *= shape[-1] ** -0.5  # keeps the size of a row
            return array.astype(dtype)

        check_choice("dtype", dtype, ("float32", "float64"))
        return _build(config, draw, impl)


def layer_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of each weight of a layer, in reading order."""
    hidden, ffn = config.hidden_size, config.ffn_size
    q_size = config.num_heads * config.head_dim
    kv_size = config.num_kv_heads * config.head_dim
    return {
        "attn_norm": (hidden,),
        "wq": (q_size, hidden),
        "wk": (kv_size, hidden),
        "wv": (kv_size, hidden),
        "wo": (hidden, q_size),
        "ffn_norm": (hidden,),
        "w_gate": (ffn, hidden),
        "w_up": (ffn, hidden),
        "w_down": (hidden, ffn),
    }


def _from_file(
    file: GGUFFile | HFFolder,
    names: Mapping[str, str],
    config: ModelConfig,
    impl: str,
    dtype: str,
) -> Params:
    """Read every weight, and refuse a tensor that would be left out."""
    check_choice("dtype", dtype, ("float32", "float64"))
    tied = config.tie_embeddings
    theirs = {
        ours: name
        for name, ours in names.items()
        if not (ours == "unembed" and tied)
    }
    for tensor in sorted(file.tensors.keys() - theirs.values()):
        if not _is_redundant(tensor, file, tied):
            expected = "no tensor that this decoder does not use"
            raise ArgumentError("file.tensors", tensor, expected)

    def read(name: str, shape: tuple[int, ...]) -> np.ndarray:
        tensor = theirs[name]
        check(tensor in file.tensors, tensor, "no such tensor", "one")
        check_shape(tensor, file.tensors[tensor], shape)
        return file.tensor(tensor, dtype=np.dtype(dtype).type)

    return _build(config, read, impl)


def _is_redundant(tensor: str, file: GGUFFile | HFFolder, tied: bool) -> bool:
    """Whether a tensor repeats what the others say, as older folders do.

    They hold the rotary frequencies, and with tied embeddings an output
    matrix that is the embedding once more.
    """
    if tensor.endswith(".rotary_emb.inv_freq"):
        return True
    twin = "model.embed_tokens.weight"
    if not (tied and tensor == "lm_head.weight" and twin in file.tensors):
        return False
    return np.array_equal(file.raw(tensor), file.raw(twin))


def _build(
    config: ModelConfig,
    read: Callable[[str, tuple[int, ...]], np.ndarray],
    impl: str,
) -> Params:
    """Ask ``read`` for every weight by name and shape."""

    def get(name: str, shape: tuple[int, ...]) -> Any:
        return from_numpy(read(name, shape), impl=impl)

    table = (config.vocab_size, config.hidden_size)
    embed = get("embed", table)
    layers = tuple(
        LayerParams(
            **{
                name: get(f"layers[{index}].{name}", shape)
                for name, shape in layer_shapes(config).items()
            }
        )
        for index in range(config.num_layers)
    )
    final_norm = get("final_norm", (config.hidden_size,))
    unembed = embed if config.tie_embeddings else get("unembed", table)
    return Params(embed, layers, final_norm, unembed)
