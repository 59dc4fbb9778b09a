"""Source that several tests of anchors write into a repository."""

RETRY = """import time


def send(message, tries):
    \"\"\"Send it, and again if that fails.\"\"\"
    for attempt in range(tries):
        if message.deliver():
            return attempt
        time.sleep(2**attempt)
    raise TimeoutError(message)


def give_up(message):
    message.failed = True
    message.log("gave up")
    return None
"""
