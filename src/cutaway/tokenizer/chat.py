"""Chat templates: how a conversation becomes one text.

A chat model was trained on conversations written in one fixed way. That
way travels with the model as a small Jinja program: it gets the messages
and prints the text, special tokens included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NoReturn

from cutaway.tokenizer.errors import TokenizerError


class ChatTemplate:
    """A model's chat template, run in Jinja's sandbox.

    The template comes with the model, so it is a stranger's program: the
    sandbox keeps it from changing the messages and from reaching Python.
    Nothing bounds the time it takes.

    Args:
        source: The template.
        variables: Further names it may use, such as ``bos_token``.

    Source: Hugging Face ``transformers``, ``chat_template_utils.py`` (the
    same environment: block trimming, loop controls, ``raise_exception``
    and a ``tojson`` that leaves HTML characters alone).
    Differs: no ``strftime_now`` (the prompt would depend on the day), no
    tools or documents, no ``{% generation %}`` tag; content is text only.

    >>> template = ChatTemplate(
    ...     "{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}"
    ... )
    >>> template.render([{"role": "user", "content": "Hi"}])
    'user: Hi'
    """

    def __init__(
        self, source: str, variables: Mapping[str, str] | None = None
    ) -> None:
        self.source = source
        self._variables = dict(variables or {})

    def render(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        add_generation_prompt: bool = False,
    ) -> str:
        """Write a conversation as text.

        Args:
            messages: Mappings with at least ``role`` and ``content``; they
                are not changed.
            add_generation_prompt: End with the opening of an answer.

        Raises:
            TokenizerError: The template has a fault or refuses the
                messages.
        """
        try:
            return self._compiled.render(
                messages=[dict(message) for message in messages],
                add_generation_prompt=add_generation_prompt,
                tools=None,
                documents=None,
                **self._variables,
            )
        # The template is a program: it may fail in any way a program can.
        except Exception as fault:
            raise TokenizerError(
                "messages",
                f"{type(fault).__name__} in the chat template: {fault}",
                "messages that the model's chat template accepts",
            ) from fault

    @cached_property
    def _compiled(self) -> Any:
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.loopcontrols"],
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _raise_exception
        return environment.from_string(self.source)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Write a value as JSON; Jinja's own filter escapes ``<`` and ``&``."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _raise_exception(message: str) -> NoReturn:
    """Let a template refuse a conversation."""
    from jinja2 import TemplateError

    raise TemplateError(message)
