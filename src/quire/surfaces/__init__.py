"""How people and programs reach the memory: parse, call Project, print."""
