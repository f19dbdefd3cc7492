"""``python -m cutaway`` is the command ``cutaway``."""

import sys

from cutaway.cli import main

sys.exit(main())
