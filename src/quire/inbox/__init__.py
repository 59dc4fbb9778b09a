"""What waits for a person's word: proposals, on this machine alone; and what was rejected, for everybody."""
