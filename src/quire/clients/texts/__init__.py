"""Texts that clients are given: the skill, rules, slash commands, the opencode plugin."""
