"""Quire: project memory for AI coding agents and the people who run them."""

__all__ = ["__version__"]

__version__ = "0.1.0"
