"""Resolve anchors (files, folders, globs, symbols) and say whether the code behind them has changed."""
