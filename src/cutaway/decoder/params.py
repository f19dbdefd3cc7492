"""The weights of a decoder, named as the forward pass reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_choice, check_int
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.core.reading import required
from cutaway.decoder.layer_params import LayerParams
from cutaway.decoder.read_params import check_layout, reader
from cutaway.decoder.shapes import layer_shapes, weight_shapes
from cutaway.decoder.support import check_supported
from cutaway.layers import from_numpy
from cutaway.weights import (
    decoder_names,
    find_stored,
    hf_stored,
    unpermute_rows,
    whole,
)

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float

    from cutaway.decoder.read_params import Read
    from cutaway.weights import GGUFFile, HFFolder


@dataclass(frozen=True)
class Params:
    """Weights of a whole decoder.

    Attributes:
        embed: One row per token of the vocabulary.
        layers: One entry per decoder layer.
        final_norm: Scale of the last normalisation.
        unembed: One row per token; the very array ``embed`` when tied.
        positions: One row per position, where these are learned.
        final_norm_bias: Of a LayerNorm.
    """

    embed: Float[Any, "vocab hidden"]
    layers: tuple[LayerParams, ...]
    final_norm: Float[Any, " hidden"]
    unembed: Float[Any, "vocab hidden"]
    positions: Float[Any, "positions hidden"] | None = None
    final_norm_bias: Float[Any, " hidden"] | None = None

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

        Rows of q and k stay in the order of the file, interleaved:
        ``config.rope_layout`` must say so, as ``ModelConfig.from_gguf``
        does.

        Args:
            file: The file; it may be closed afterwards.
            config: The model's sizes, which the tensors must match.
            impl: ``"numpy"`` or ``"torch"``: what the arrays are.
            dtype: ``"float32"`` or ``"float64"``.

        Raises:
            ArgumentError: A tensor is missing, has another shape, or is
                one that this decoder would ignore (a bias, for instance);
                or the layout is another.

        Cost: 4 bytes a weight in float32; nothing is copied afterwards.
        """
        check_layout(config, "interleaved")
        names = decoder_names(config.num_layers)
        stored = whole({ours: theirs for theirs, ours in names.items()})
        return cls._build(config, reader(file, stored, config, dtype), impl)

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

        Rows of q and k stay in the order of the folder, half-split (with
        latent attention, interleaved): ``config.rope_layout`` must say so,
        as ``ModelConfig.from_hf`` does.

        Args:
            folder: The folder; it may be closed afterwards.
            config: The model's sizes, which the tensors must match.
            impl: ``"numpy"`` or ``"torch"``: what the arrays are.
            dtype: ``"float32"`` or ``"float64"``.

        Raises:
            ArgumentError: As for ``from_gguf``, or the names that models
                of this type give their tensors are not known.

        Cost: as for ``from_gguf``; for a moment, the experts of a layer
            twice.
        """
        latent = config.mla is not None
        check_layout(config, "interleaved" if latent else "half_split")
        stored = hf_stored(required(folder.config, "model_type"), config)
        return cls._build(config, reader(folder, stored, config, dtype), impl)

    def to_hf(
        self, config: ModelConfig, model_type: str = "llama"
    ) -> dict[str, np.ndarray]:
        """Return the weights under the names that a folder gives them.

        Args:
            config: The model; if its q and k rows are interleaved, copies
                of those are put in half-split order.
            model_type: The family whose names are used.

        Returns:
            Arrays by name, ``lm_head.weight`` only where it is not tied.
            Most share their memory with these weights: do not write.

        Raises:
            ArgumentError: Models of this type have no place for a weight,
                or keep it in one tensor with others.

        Cost: a copy of the q and k matrices at most.

        >>> config = ModelConfig(num_layers=1, hidden_size=8, num_heads=2,
        ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
        ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
        >>> params = Params.random(config, 0, impl="numpy")
        >>> params.to_hf(config)["model.layers.0.self_attn.k_proj.weight"].shape
        (4, 8)
        """
        stored = hf_stored(model_type, config)
        turned = config.rope_layout == "interleaved" and config.mla is None
        rows = {"wq": config.num_heads, "wk": config.num_kv_heads}
        rows |= {"bq": rows["wq"], "bk": rows["wk"]}
        found: dict[str, np.ndarray] = {}
        for name in weight_shapes(config):
            array = np.asarray(self[name])
            heads = rows.get(name.rpartition(".")[2])
            if heads is not None and turned:
                array = unpermute_rows(array, heads)
            found |= find_stored(stored, name).written(array)
        return found

    def names(self) -> list[str]:
        """Return the name of each weight that there is.

        ``unembed`` is not listed where it is the very array ``embed``.
        """
        names = [name for name in _present(self) if name != "layers"]
        if self.unembed is self.embed:
            names.remove("unembed")
        for index, layer in enumerate(self.layers):
            names += [f"layers[{index}].{name}" for name in _present(layer)]
        return names

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
        weight = getattr(place, match[2])
        check(weight is not None, name, "None", "a weight that the model has")
        return weight

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
                array = norm_mean + array / 10
            elif name != "embed":
                array *= shape[-1] ** -0.5  # keeps the size of a row
            return array.astype(dtype)

        check_choice("dtype", dtype, ("float32", "float64"))
        norm_mean = 0 if config.norm.kind == "rms_plus_one" else 1
        return cls._build(config, draw, impl)

    @classmethod
    def _build(cls, config: ModelConfig, read: Read, impl: str) -> Params:
        """Ask ``read`` for every weight by name and shape."""
        weights = {
            name: from_numpy(read(name, shape), impl=impl)
            for name, shape in weight_shapes(config).items()
        }
        layers = tuple(
            LayerParams(
                **{
                    name: weights.pop(f"layers[{index}].{name}")
                    for name in layer_shapes(config, index)
                }
            )
            for index in range(config.num_layers)
        )
        weights.setdefault("unembed", weights["embed"])
        return cls(layers=layers, **weights)


def _present(part: Params | LayerParams) -> list[str]:
    """Return the fields that are not None."""
    return [
        field.name
        for field in fields(part)
        if getattr(part, field.name) is not None
    ]
