"""Text to token ids and back: BPE, WordPiece and unigram, and training."""

from cutaway.tokenizer.bpe import merge, merge_steps
from cutaway.tokenizer.chat import ChatTemplate
from cutaway.tokenizer.errors import TokenizerError
from cutaway.tokenizer.hf_write import tokenizer_config, tokenizer_json
from cutaway.tokenizer.pretokenize import Pretokenizer
from cutaway.tokenizer.spec import TokenizerSpec
from cutaway.tokenizer.stream import StreamDecoder
from cutaway.tokenizer.symbols import BYTE_TO_SYMBOL, to_bytes, to_symbols
from cutaway.tokenizer.tokenizer import Tokenizer
from cutaway.tokenizer.train import MergeEvent, merge_events, train_bpe
from cutaway.tokenizer.unigram import Unigram, viterbi
from cutaway.tokenizer.unigram_em import em_step, expected_counts
from cutaway.tokenizer.unigram_train import (
    UnigramRound,
    train_unigram,
    unigram_rounds,
)
from cutaway.tokenizer.vocab import Vocabulary
from cutaway.tokenizer.wordpiece import WordPiece
from cutaway.tokenizer.wordpiece_train import train_wordpiece, wordpiece_events

__all__ = [
    "BYTE_TO_SYMBOL",
    "ChatTemplate",
    "MergeEvent",
    "Pretokenizer",
    "StreamDecoder",
    "Tokenizer",
    "TokenizerError",
    "TokenizerSpec",
    "Unigram",
    "UnigramRound",
    "Vocabulary",
    "WordPiece",
    "em_step",
    "expected_counts",
    "merge",
    "merge_events",
    "merge_steps",
    "to_bytes",
    "to_symbols",
    "tokenizer_config",
    "tokenizer_json",
    "train_bpe",
    "train_unigram",
    "train_wordpiece",
    "unigram_rounds",
    "viterbi",
    "wordpiece_events",
]
