"""Answer from the journal alone: its own line rules on top of `retrieval.query`."""
