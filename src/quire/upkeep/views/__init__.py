"""What people look at, worked out of records: lists, one record and its past, the product over time."""
