"""The tokenizer: text to token ids, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args, overload
from unicodedata import normalize

from cutaway.core.checks import check_choice
from cutaway.tokenizer.chat import ChatTemplate
from cutaway.tokenizer.checks import check_messages, check_text
from cutaway.tokenizer.decode import TokenDecoder
from cutaway.tokenizer.encoder import MissingBytes, WordEncoder
from cutaway.tokenizer.errors import TokenizerError
from cutaway.tokenizer.hf_read import spec_from_hf
from cutaway.tokenizer.pretokenize import Pretokenizer
from cutaway.tokenizer.spec import TokenizerSpec, gguf_name
from cutaway.tokenizer.special import SpecialTokens
from cutaway.tokenizer.vocab import Vocabulary

SpecialInContent = Literal["parse", "error"]


class Tokenizer(TokenDecoder):
    """A model's byte-level BPE tokenizer.

    Text is cut at special tokens, then into words; each word's UTF-8 bytes
    become tokens that merge into longer ones. Decoding joins the tokens'
    bytes and reads them as UTF-8.

    Invariants:

    - ``decode(encode(text)) == text`` for all text that ``encode`` takes
      with ``missing_bytes="error"``, if the model has no normalizer and
      puts no token first;
    - a failed call changes nothing.

    Args:
        spec: What the model's file says of its tokenizer.

    Source: Hugging Face ``tokenizers`` and llama.cpp, whose ids these are.
    Differs: a byte that the vocabulary lacks is an error by default; both
    of them leave it out silently.

    >>> tokens = ["<|end|>", "H", "i", "!", "Hi"]
    >>> tokenizer = Tokenizer.from_gguf({
    ...     "tokenizer.ggml.model": "gpt2",
    ...     "tokenizer.ggml.pre": "smollm",
    ...     "tokenizer.ggml.tokens": tokens,
    ...     "tokenizer.ggml.token_type": [3, 1, 1, 1, 1],
    ...     "tokenizer.ggml.merges": ["H i"],
    ...     "tokenizer.ggml.eos_token_id": 0,
    ... })
    >>> tokenizer.encode("Hi!<|end|>")
    [4, 3, 0]
    >>> tokenizer.decode([4, 3, 0], skip_special_tokens=True)
    'Hi!'
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        vocab = Vocabulary(spec.tokens, spec.kinds)
        super().__init__(vocab)
        self.spec = spec
        self._pretokenize = Pretokenizer(spec.pre)
        self._encoder = WordEncoder(
            vocab, spec.merges, self._pretokenize, spec.ignore_merges
        )
        self._special = SpecialTokens([*vocab.control, *vocab.user_defined])
        self._user_defined = SpecialTokens(vocab.user_defined)
        self._first_ids = _first_ids(spec)
        self.bos_token_id = spec.bos_token_id
        self.eos_token_id = spec.eos_token_id
        self._template = (
            None
            if spec.chat_template is None
            else ChatTemplate(spec.chat_template, spec.template_names)
        )

    @classmethod
    def from_gguf(cls, metadata: Mapping[str, Any]) -> Tokenizer:
        """Make the tokenizer that a GGUF file describes.

        Args:
            metadata: The file's key-value pairs.

        Raises:
            TokenizerError: A key is missing, the kind of tokenizer is not
                known, or the tokens, types, merges and ids do not fit.

        Cost: less than 0.1 s for 49,152 tokens.
        """
        spec = TokenizerSpec.from_gguf(metadata)
        try:
            return cls(spec)
        except TokenizerError as fault:
            key = gguf_name(fault.name)
            raise TokenizerError(key, fault.got, fault.expected) from None

    @classmethod
    def from_hf(
        cls,
        data: Mapping[str, Any],
        tokenizer_config: Mapping[str, Any] | None = None,
    ) -> Tokenizer:
        """Make the tokenizer that a ``tokenizer.json`` describes.

        Args:
            data: The file, parsed; byte-level BPE.
            tokenizer_config: The parsed ``tokenizer_config.json``: the end
                token and the chat template. Without it there are none.

        Raises:
            TokenizerError: A part is missing, malformed, or asks for what
                this package does not do; it is named.

        Source: Hugging Face ``tokenizers``, whose format this is.
        """
        return cls(spec_from_hf(data, tokenizer_config))

    def __repr__(self) -> str:
        return (
            f"Tokenizer(vocab_size={self.vocab_size}, "
            f"pre={self._pretokenize.name!r})"
        )

    @property
    def stop_token_ids(self) -> tuple[int, ...]:
        """The token that ends an answer, or nothing if none is known."""
        return () if self.eos_token_id is None else (self.eos_token_id,)

    # -- text to ids -------------------------------------------------------

    def encode(
        self,
        text: str,
        *,
        parse_special: bool = True,
        add_special_tokens: bool = True,
        missing_bytes: MissingBytes = "error",
    ) -> list[int]:
        """Return the token ids of a text.

        Args:
            text: The text.
            parse_special: Read ``<|im_end|>`` and its like as the one
                token. With False they are ordinary text: do that for text
                from strangers.
            add_special_tokens: Put the model's first token first, if its
                file asks for that: Llama 3's does, SmolLM2's does not.
            missing_bytes: What to do with a byte that has no token:
                ``"error"`` raises; ``"replace"`` puts U+FFFD for its
                character; ``"drop"`` leaves the byte out.

        Raises:
            TokenizerError: The text is no ``str``, holds a lone surrogate
                (which UTF-8 cannot encode), or a byte without a token.
            ArgumentError: ``missing_bytes`` is none of the three.

        Cost: O(characters), and a word's first time O(n log n) for n
        bytes; millions of characters of English a second.
        Differs: Hugging Face and llama.cpp do what ``"drop"`` does.
        """
        check_text(text)
        check_choice("missing_bytes", missing_bytes, get_args(MissingBytes))
        special = self._special if parse_special else self._user_defined
        ids = list(self._first_ids) if add_special_tokens else []
        form = self.spec.normalizer
        offset = 0
        for place, piece in enumerate(special.split(text)):
            if place % 2:
                ids.append(self._vocab.ids[piece])
            else:
                plain = piece if form is None else normalize(form, piece)
                ids += self._encoder.encode(plain, missing_bytes, offset)
            offset += len(piece.encode())
        return ids

    def pretokenize(self, text: str) -> list[str]:
        """Return the words that ordinary text is cut into."""
        check_text(text)
        return self._pretokenize(text)

    def merge_steps(self, word: str) -> list[list[str]]:
        """Return the tokens of one word at the start and after each merge.

        Args:
            word: One of the words that ``pretokenize`` gives.

        Raises:
            TokenizerError: As ``encode`` with ``missing_bytes="error"``.
        """
        check_text(word)
        steps = self._encoder.steps(word)
        return [[self._vocab.tokens[i] for i in step] for step in steps]

    # -- conversations -----------------------------------------------------

    @overload
    def apply_chat_template(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        add_generation_prompt: bool = False,
        tokenize: Literal[True] = True,
        special_in_content: SpecialInContent = "parse",
    ) -> list[int]: ...

    @overload
    def apply_chat_template(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        add_generation_prompt: bool = False,
        tokenize: Literal[False],
        special_in_content: SpecialInContent = "parse",
    ) -> str: ...

    def apply_chat_template(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        add_generation_prompt: bool = False,
        tokenize: bool = True,
        special_in_content: SpecialInContent = "parse",
    ) -> list[int] | str:
        """Return a conversation as the model was trained to see it.

        The template writes one text, and that text is encoded: a special
        token inside a message counts as structure. Whoever writes
        ``<|im_end|>`` in a message ends it there and can go on as another
        role. Give ``special_in_content="error"`` for messages from
        strangers.

        Args:
            messages: Mappings with ``role`` and ``content``, oldest first.
            add_generation_prompt: End with the opening of an answer.
            tokenize: Return ids; with False, the text.
            special_in_content: ``"parse"`` does as described;
                ``"error"`` refuses a role or content with a special token.

        Raises:
            TokenizerError: The model has no template, the messages are
                unusable, or ``encode`` refuses the text.
            ArgumentError: ``special_in_content`` is neither.

        Source: Hugging Face ``transformers``, whose default this is.
        Differs: it has no ``special_in_content``; it always parses.
        """
        check_choice(
            "special_in_content", special_in_content, get_args(SpecialInContent)
        )
        if self._template is None:
            raise TokenizerError(
                "tokenizer.chat_template",
                "a model without a chat template",
                "a chat model",
            )
        listed = check_messages(messages)
        if special_in_content == "error":
            self._special.refuse(listed)
        text = self._template.render(
            listed, add_generation_prompt=add_generation_prompt
        )
        if not tokenize:
            return text
        return self.encode(text, add_special_tokens=False)


def _first_ids(spec: TokenizerSpec) -> tuple[int, ...]:
    """Return what stands before every text: the first token, or nothing."""
    if not spec.add_bos:
        return ()
    if spec.bos_token_id is None:
        raise TokenizerError(
            "bos_token_id", "none, though a text begins with it", "a token id"
        )
    return (spec.bos_token_id,)
