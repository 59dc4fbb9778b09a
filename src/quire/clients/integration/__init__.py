"""Connect clients to the memory: change their configuration in place, restore it byte for byte."""
