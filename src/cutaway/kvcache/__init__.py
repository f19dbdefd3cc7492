"""Where keys and values of past tokens are kept."""

from cutaway.kvcache.bit_packing import pack_bits, packed_bytes, unpack_bits
from cutaway.kvcache.codecs import (
    Codec,
    Float8Codec,
    IntegerCodec,
    bytes_per_row,
)
from cutaway.kvcache.coded_rows import CodedRows
from cutaway.kvcache.contiguous import CacheFullError, ContiguousCache
from cutaway.kvcache.evicting import EvictingCache
from cutaway.kvcache.eviction_policy import EvictionPolicy, Recent, kept_rows
from cutaway.kvcache.factory import (
    CACHES,
    CacheFactory,
    cache_factory,
    make_cache,
)
from cutaway.kvcache.grouped_rows import GroupedRows, GroupScheme
from cutaway.kvcache.h2o import H2O, h2o_cache
from cutaway.kvcache.kept import KeptTokens
from cutaway.kvcache.kivi import KIVICache, kivi_cache
from cutaway.kvcache.quantized import QuantizedCache
from cutaway.kvcache.ring import Ring
from cutaway.kvcache.rolling import RollingCache
from cutaway.kvcache.snapkv import SnapKV, snapkv_cache
from cutaway.kvcache.streaming import StreamingCache

__all__ = [
    "CACHES",
    "H2O",
    "CacheFactory",
    "CacheFullError",
    "Codec",
    "CodedRows",
    "ContiguousCache",
    "EvictingCache",
    "EvictionPolicy",
    "Float8Codec",
    "GroupScheme",
    "GroupedRows",
    "IntegerCodec",
    "KIVICache",
    "KeptTokens",
    "QuantizedCache",
    "Recent",
    "Ring",
    "RollingCache",
    "SnapKV",
    "StreamingCache",
    "bytes_per_row",
    "cache_factory",
    "h2o_cache",
    "kept_rows",
    "kivi_cache",
    "make_cache",
    "pack_bits",
    "packed_bytes",
    "snapkv_cache",
    "unpack_bits",
]
