"""A project read as it lies there: a first look, the memory that can be made of it, and what sessions add to it."""
