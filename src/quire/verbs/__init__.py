"""Verbs: one module each, with arguments, function over a `Project`, result and lines."""
