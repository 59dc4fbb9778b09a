"""Checks of a journal: each looks at one part of it, and yields what it found."""
