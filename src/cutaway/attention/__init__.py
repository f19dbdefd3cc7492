"""Attention: what a token takes from the tokens before it."""

from cutaway.attention.dense import attention

__all__ = ["attention"]
