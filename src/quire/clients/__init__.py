"""The programs that agents run in: what their hooks say and hear, what they read, how they are wired to the memory."""
