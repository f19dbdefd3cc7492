"""Short texts on which the chapters measure a model's perplexity.

Written for this book, so that no model has seen them in training.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "explanation": (
            "A bicycle stays upright because it steers into the side to "
            "which it begins to fall. When the frame leans to the left, the "
            "front wheel turns to the left as well, and the points where the "
            "tyres touch the road move back under the rider. The faster the "
            "bicycle rolls, the less it has to steer. This is why a slow "
            "rider wobbles, and why a bicycle that stands still falls over."
        ),
        "story": (
            "Marta found the key under the third flower pot, where her "
            "grandmother had always kept it. The door was heavier than she "
            "remembered. Inside, the kitchen smelled of dust and dried "
            "thyme, and the clock on the wall had stopped at ten past four. "
            "She opened a window, put the kettle on the stove, and sat down "
            "at the table to read the letter once more."
        ),
        "code": (
            "def count_words(text):\n"
            '    """Return how often each word occurs in the text."""\n'
            "    counts = {}\n"
            "    for word in text.lower().split():\n"
            '        word = word.strip(".,;:!?")\n'
            "        if word:\n"
            "            counts[word] = counts.get(word, 0) + 1\n"
            "    return counts\n"
        ),
    }
)
"""By name: an explanation, a story, and a Python function."""
