"""Detect secrets and hostile text, and mark recalled text as data. Uses the model only."""
