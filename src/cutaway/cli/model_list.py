"""The table of the models that ``cutaway size`` knows by name."""

from __future__ import annotations

import json
from typing import Any

from cutaway.cli.tables import print_note, print_table


def print_models(*, as_json: bool) -> None:
    """Print every model known by name, with the bytes of a token."""
    data = {**_whole_models(), **_caches()}
    if as_json:
        print(json.dumps(data, indent=2))
        return
    print_table(
        "Models known by name",
        ("name", "parameters", "active", "KV a token", "tokens"),
        [
            (
                name,
                _count(row["num_params"]),
                _active(row["num_params"], row["active_params"]),
                f"{row['kv_bytes_per_token'] / 1024:g} KiB",
                f"{row['max_seq_len']:,}",
            )
            for name, row in data.items()
        ],
    )
    print_note(
        "KV a token: in 16 bits, every layer in full. Where no parameters "
        "stand, only the cache is known."
    )


def _whole_models() -> dict[str, dict[str, Any]]:
    """Return the models of which all is known."""
    from cutaway.roofline import (
        CONFIG_SOURCES,
        CONFIGS,
        active_params,
        kv_bytes_per_token,
        num_params,
    )

    return {
        name: {
            "num_params": num_params(config),
            "active_params": active_params(config),
            "kv_bytes_per_token": kv_bytes_per_token(config),
            "kv_state_bytes": 0,
            "max_seq_len": config.max_seq_len,
            "source": CONFIG_SOURCES[name],
        }
        for name, config in CONFIGS.items()
    }


def _caches() -> dict[str, dict[str, Any]]:
    """Return the models of which only the cache is known."""
    from cutaway.roofline import CACHE_FILES, CACHE_SOURCES, model_layout

    return {
        name: {
            "num_params": None,
            "active_params": None,
            "kv_bytes_per_token": model_layout(name).bytes_per_token(),
            "kv_state_bytes": model_layout(name).state_bytes(),
            "max_seq_len": file["max_position_embeddings"],
            "source": CACHE_SOURCES[name],
        }
        for name, file in CACHE_FILES.items()
    }


def _count(number: int | None) -> str:
    """Return a number with its digits grouped, or a dash."""
    return "-" if number is None else f"{number:,}"


def _active(total: int | None, active: int | None) -> str:
    """Return the active parameters, unless all are."""
    if total is None or active is None:
        return "-"
    return "all" if active == total else f"{active / 1e9:.2f} billion"
