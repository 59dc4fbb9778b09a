"""Values and rules shared by all packages: no input or output, no clock."""
