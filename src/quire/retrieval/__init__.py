"""From question to answer: seed, fuse, expand, budget, render."""
