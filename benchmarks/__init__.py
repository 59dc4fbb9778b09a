"""What is measured, against what, and with which result."""
