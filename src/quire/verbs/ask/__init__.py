"""Verbs that answer questions: query, brief, why, inspect, list, status."""
