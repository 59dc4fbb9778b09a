"""Proposals that wait for review, on this machine alone; and rejections, shared with the project."""
