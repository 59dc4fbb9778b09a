"""Repair without loss: planned from the problems a check found, copied first, undone exactly."""
