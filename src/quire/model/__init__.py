"""The words of the house: pure values and rules, no input or output, no clock."""
