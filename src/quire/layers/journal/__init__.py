"""The journal: what happened and what is known of a project, in `.agent-memory/`, as files two programs can share."""
