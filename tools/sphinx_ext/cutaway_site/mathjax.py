"""The parts of MathJax that the book needs, from the locked wheel.

The wheel ships 24 MB. A page with formulas loads a start script, the core,
the TeX reader with the AMS environments, the CHTML writer, and the markup
for screen readers; pages without formulas load none of it. The fonts are
written again as WOFF2 without hints, and the AMS font is divided, so that a
page that shows no more of it than the R of the real numbers loads 7 kB.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fontTools import subset
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# The package's name has hyphens: it can be found but not imported by name.
PACKAGE = "sphinx-mathjax-offline"
ENTRY = "mathjax/startup.js"
OPTIONS: dict[str, Any] = {
    "loader": {
        "load": [
            "core",
            "input/tex-base",
            "[tex]/ams",
            "output/chtml",
            "a11y/assistive-mml",
        ]
    },
    "tex": {"packages": ["base", "ams"]},
    "chtml": {"matchFontHeight": False},
}
COPIED = (
    "startup.js",
    "core.js",
    "input/tex-base.js",
    "input/tex/extensions/ams.js",
    "a11y/assistive-mml.js",
)
# These name the font files, and so are copied with changes.
NAMING_FONTS = ("output/chtml.js", "output/chtml/fonts/tex.js")
FONTS = "output/chtml/fonts/woff-v2"
DIVIDED = "MathJax_AMS-Regular"
LETTERS = range(0x41, 0x5B)
FACE = re.compile(
    r'"@font-face /\* (\d+) \*/":\{("font-family":"[^"]+"),'
    r"""src:'url\("%%URL%%/([\w-]+)\.woff"\) format\("woff"\)'\}"""
)


def source() -> Path:
    """Return the folder of the wheel that holds MathJax."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ExtensionError(f"MathJax: got no package {PACKAGE}, expected it")
    return Path(spec.origin).parent / "static" / "mathjax"


def face(number: str, family: str, file: str, extent: str = "") -> str:
    """Return a font-face rule as MathJax's script writes it."""
    url = f"""src:'url("%%URL%%/{file}.woff2") format("woff2")'"""
    extent = f',"unicode-range":"{extent}"' if extent else ""
    return f'"@font-face /* {number} */":{{{family},{url}{extent}}}'


def with_new_fonts(script: str) -> str:
    """Name the fonts that ``copy`` writes in place of the wheel's."""

    def rename(match: re.Match[str]) -> str:
        number, family, file = match.groups()
        if file != DIVIDED:
            return face(number, family, file)
        first = face(number, family, f"{file}-letters", "U+41-5A")
        return (
            f"{first},{face(f'{number} b', family, file, 'U+0-40,U+5B-FFFF')}"
        )

    changed, count = FACE.subn(rename, script)
    if not count or '.woff"' in changed:
        raise ExtensionError(
            "MathJax: got unknown font rules, expected @font-face"
        )
    return changed


def write_font(font: Path, target: Path, points: Iterable[int] = ()) -> None:
    """Write a font as WOFF2 without hints; only ``points`` if given."""
    options = subset.Options(flavor="woff2", hinting=False)
    options.drop_tables += ["FFTM", "GDEF"]
    loaded = subset.load_font(str(font), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=list(points) or list(loaded.getBestCmap() or {}))
    cutter.subset(loaded)
    subset.save_font(loaded, str(target), options)


def copy(app: Sphinx) -> None:
    """Write the parts in use into the site, unless they are there."""
    origin = source()
    target = Path(app.outdir, "_static", "mathjax")
    done = target / "complete"
    if done.exists():
        return
    (target / FONTS).mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(origin / name, target / name)
    for name in NAMING_FONTS:
        script = (origin / name).read_text(encoding="utf-8")
        (target / name).write_text(with_new_fonts(script), encoding="utf-8")
    for font in sorted((origin / FONTS).glob("*.woff")):
        write_font(font, target / FONTS / f"{font.stem}.woff2")
    letters = target / FONTS / f"{DIVIDED}-letters.woff2"
    write_font(origin / FONTS / f"{DIVIDED}.woff", letters, LETTERS)
    done.touch()
