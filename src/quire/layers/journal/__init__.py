"""The journal: events and what is known of a project, in `.agent-memory/`, shared with another program."""
