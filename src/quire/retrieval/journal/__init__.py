"""Answers from the journal alone: its own line rules on top of the one engine of `retrieval.query`."""
