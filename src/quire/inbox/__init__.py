"""Proposals that wait for review, on this machine alone; rejections, shared with the project."""
