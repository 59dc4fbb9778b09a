"""What a session leaves behind, found on this machine by a small model of our own and by rules."""
