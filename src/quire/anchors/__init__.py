"""Resolve anchors (files, folders, globs, symbols) and tell whether the code behind them has changed."""
