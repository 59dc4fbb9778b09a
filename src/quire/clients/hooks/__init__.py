"""Hooks of coding agents: payloads, replies, and the limits of each client."""
