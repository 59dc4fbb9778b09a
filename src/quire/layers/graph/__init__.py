"""The graph: project, features, decisions, gotchas, questions and their relations, in `.memory/`."""
