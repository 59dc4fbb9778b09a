"""Keeping it honest: anchors, product map, guidance, check, status, the registry of projects, reset."""
