"""What can be mended without losing anything: planned by what a check found, copied first, taken back exactly."""
