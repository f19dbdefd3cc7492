"""Every cache of the package passes the shared suite."""

from __future__ import annotations

import pytest

from kvcache.cache_suite import CACHES, CacheSuite


@pytest.mark.parametrize("case", CACHES, ids=[case.name for case in CACHES])
class TestEveryCache(CacheSuite):
    pass
