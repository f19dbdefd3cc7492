"""Text to token ids and back: byte-level BPE with a model's own merges."""

from cutaway.tokenizer.bpe import merge, merge_steps
from cutaway.tokenizer.chat import ChatTemplate
from cutaway.tokenizer.errors import TokenizerError
from cutaway.tokenizer.pretokenize import Pretokenizer
from cutaway.tokenizer.spec import TokenizerSpec
from cutaway.tokenizer.stream import StreamDecoder
from cutaway.tokenizer.symbols import BYTE_TO_SYMBOL, to_bytes, to_symbols
from cutaway.tokenizer.tokenizer import Tokenizer
from cutaway.tokenizer.vocab import Vocabulary

__all__ = [
    "BYTE_TO_SYMBOL",
    "ChatTemplate",
    "Pretokenizer",
    "StreamDecoder",
    "Tokenizer",
    "TokenizerError",
    "TokenizerSpec",
    "Vocabulary",
    "merge",
    "merge_steps",
    "to_bytes",
    "to_symbols",
]
