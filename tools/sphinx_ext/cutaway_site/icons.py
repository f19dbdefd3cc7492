"""A small icon font: the theme's own glyphs, but only the ones in use.

The theme ships FontAwesome as three web fonts and a script, 0.9 MB. The book
shows some thirty icons. They are found where they are used, as classes such
as ``fa-download`` in pages and scripts and as code points such as
``--pst-icon-bell`` in style sheets, and cut out of the theme's font files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pydata_sphinx_theme
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

THEME = Path(pydata_sphinx_theme.__file__).parent.joinpath(
    "theme", "pydata_sphinx_theme", "static", "vendor", "fontawesome"
)
# File stem of the theme's font, family, weight, classes, CSS variable.
FACES = (
    ("fa-solid-900", "Font Awesome 6 Free", 900, "fa fas fa-solid", "solid"),
    ("fa-regular-400", "Font Awesome 6 Free", 400, "far fa-regular", "regular"),
    ("fa-brands-400", "Font Awesome 6 Brands", 400, "fab fa-brands", "brands"),
)
RULE = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\([0-9a-f]+)"\}')
CLASS = re.compile(r"\bfa-[a-z][\w-]*")
ICON = re.compile(
    r'(?:--pst-icon-[\w-]+|content):\s*"(\\[0-9a-fA-F]{4}|[\ue000-\uf8ff])"'
)
BASE = """\
/* Icons: a subset of Font Awesome Free 6 (fontawesome.com). Fonts: SIL OFL
   1.1, style rules: MIT. Made from the theme's own files when the book is
   built; only the icons in use are here. */
:root{%(variables)s}
%(classes)s{display:inline-block;font-style:normal;line-height:1;
text-rendering:auto;-webkit-font-smoothing:antialiased}
.fa-lg{font-size:1.25em;line-height:.05em;vertical-align:-.075em}
"""


def code_points() -> dict[str, int]:
    """Map each icon class of the theme's style sheet to its code point."""
    (sheet,) = THEME.glob("*/css/all.min.css")
    found: dict[str, int] = {}
    for classes, code in RULE.findall(sheet.read_text(encoding="utf-8")):
        for name in re.findall(r"\.(fa-[\w-]+):before", classes):
            found[name] = int(code, 16)
    return found


def used(files: Iterable[Path]) -> tuple[set[str], set[int]]:
    """Return the icon classes and the bare code points that files name."""
    classes: set[str] = set()
    points: set[int] = set()
    for file in files:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".css":
            for value in ICON.findall(text):
                bare = (
                    value[1:] if value.startswith("\\") else f"{ord(value):x}"
                )
                points.add(int(bare, 16))
        else:
            classes.update(CLASS.findall(text))
    return classes, points


def sources(site: Path) -> list[Path]:
    """Return the files of a built site in which icons may be named."""
    static = site / "_static"
    pages = [
        page for page in site.rglob("*.html") if static not in page.parents
    ]
    scripts = (static / "scripts").glob("*.js")
    sheets = (static / "styles").glob("*.css")
    return sorted([*pages, *scripts, *sheets, *(static / "css").glob("*.css")])


def cut(font_file: Path, points: set[int], target: Path) -> set[int]:
    """Write the glyphs of ``points`` that a font has; return those points."""
    with TTFont(font_file, recalcTimestamp=False) as font:
        kept = points & set(font.getBestCmap() or {})
        if kept:
            options = subset.Options(flavor="woff2", layout_features=[])
            options.drop_tables += ["GSUB", "GPOS"]
            cutter = subset.Subsetter(options)
            cutter.populate(unicodes=kept)
            cutter.subset(font)
            subset.save_font(font, str(target), options)
    return kept


def write(app: Sphinx) -> None:
    """Write the icon fonts and their style sheet into the site."""
    site = Path(app.outdir)
    folder = site / "_static" / "icons"
    folder.mkdir(parents=True, exist_ok=True)
    known = code_points()
    classes, points = used(sources(site))
    shown = sorted(classes & set(known))
    points |= {known[name] for name in shown}
    sheet = BASE % {
        "variables": ";".join(
            f'--fa-font-{face}:normal {weight} 1em/1 "{family}"'
            for _, family, weight, _, face in FACES
        ),
        "classes": ",".join(
            f".{name}" for face in FACES for name in face[3].split()
        ),
    }
    for stem, family, weight, names, face in FACES:
        (file,) = THEME.glob(f"*/webfonts/{stem}.woff2")
        if not cut(file, points, folder / f"{face}.woff2"):
            continue
        selectors = ",".join(f".{name}" for name in names.split())
        sheet += (
            f'@font-face{{font-family:"{family}";font-weight:{weight};'
            f'font-display:block;src:url("{face}.woff2") format("woff2")}}\n'
            f'{selectors}{{font-family:"{family}";font-weight:{weight}}}\n'
        )
    for name in shown:
        sheet += f'.{name}:before{{content:"\\{known[name]:x}"}}\n'
    (folder / "icons.css").write_text(sheet, encoding="utf-8")
