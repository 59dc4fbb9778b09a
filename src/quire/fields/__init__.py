"""Plain fields of every result, ready for JSON: what all surfaces send, each in its own way."""
