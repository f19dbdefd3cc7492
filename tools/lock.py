"""Write requirements.lock: every dependency but torch, with hashes.

The lock is universal (all platforms, Python 3.11 and newer) and is resolved
from pyproject.toml, never frozen from an environment: a freeze would record
local builds such as ``torch==2.13.0+cpu`` that the public registry lacks.
torch and the CUDA libraries it pulls in on Linux are dropped; the Makefile
installs torch in a step of its own, so that a reader may choose the build.

Usage: python tools/lock.py [--upgrade]
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
DROPPED = re.compile(r"^(torch|cuda-[a-z0-9-]+|nvidia-[a-z0-9-]+)==")
HEADER = """\
# Made by tools/lock.py from pyproject.toml. Do not edit.
# Install: pip install --require-hashes --no-deps -r requirements.lock
"""


def resolve(upgrade: bool) -> str:
    """Return uv's universal resolution of pyproject.toml as text."""
    command = [
        sys.executable, "-m", "uv", "pip", "compile", "--quiet",
        "--universal", "--generate-hashes", "--python-version", "3.11",
        "--all-extras", "--no-header", "--no-annotate",
        "--no-emit-index-url", "--no-emit-find-links",
        "--output-file", str(LOCK), str(ROOT / "pyproject.toml"),
    ]  # fmt: skip
    if upgrade:
        command.append("--upgrade")
    subprocess.run(command, check=True, cwd=ROOT)
    return LOCK.read_text()


def without_torch(text: str) -> str:
    """Drop the entries of torch and of the CUDA libraries it needs."""
    kept: list[str] = []
    dropping = False
    for line in text.splitlines():
        if line and not line[0].isspace() and not line.startswith("#"):
            dropping = bool(DROPPED.match(line))
        if not dropping and not line.startswith("#"):
            kept.append(line)
    return HEADER + "\n".join(kept) + "\n"


def main() -> int:
    """Rewrite the lock; ``--upgrade`` moves every pin to the newest."""
    unknown = set(sys.argv[1:]) - {"--upgrade"}
    if unknown:
        print(f"unknown option: got {sorted(unknown)}, expected --upgrade")
        return 2
    text = without_torch(resolve("--upgrade" in sys.argv[1:]))
    LOCK.write_text(text)
    count = len(re.findall(r"^[a-z0-9].*==", text, re.M))
    print(f"{LOCK.name}: {count} pinned packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
