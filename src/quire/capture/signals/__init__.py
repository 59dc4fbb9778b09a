"""What a session leaves behind, found by rules and without a model: signals for the journal, and a summary."""
