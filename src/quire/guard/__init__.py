"""What may not pass, and how what was recalled is shown: secrets, hostile text, fences. Uses the model only."""
