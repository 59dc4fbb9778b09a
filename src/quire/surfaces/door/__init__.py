"""Who may come in over HTTP, and where: shared by the surfaces that listen on a port."""
