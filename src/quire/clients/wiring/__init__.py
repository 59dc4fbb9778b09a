"""How clients are wired to the memory: their configuration changed in place, and taken back byte for byte."""
