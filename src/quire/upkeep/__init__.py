"""Work across layers: sync, check, repair, purge, status, diff, export, product map, page views."""
