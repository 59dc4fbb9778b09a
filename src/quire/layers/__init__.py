"""The truth: each layer reads, validates, plans and writes its own files, and knows no other layer."""
