"""What the surfaces that listen on a port share: the check of each HTTP request, the socket, the threads."""
