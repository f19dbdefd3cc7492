"""Where keys and values of past tokens are kept."""

from cutaway.kvcache.contiguous import CacheFullError, ContiguousCache

__all__ = ["CacheFullError", "ContiguousCache"]
