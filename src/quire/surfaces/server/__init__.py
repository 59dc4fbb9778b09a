"""Shared by the servers: the check of HTTP requests, the socket, the threads."""
