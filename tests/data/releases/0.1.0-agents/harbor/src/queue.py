def send(message: str) -> bool:
    """Send until it arrives."""
    return bool(message)
