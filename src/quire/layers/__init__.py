"""The layers: each reads, validates, plans and writes its own files, and imports no other layer."""
