"""What arrives by itself: conversations to compact, design documents, sessions."""
