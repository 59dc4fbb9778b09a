def mail(to: str) -> str:
    return to.strip()
