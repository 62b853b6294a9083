"""Why a library could not read something, in one line."""


def reason(error: BaseException) -> str:
    """Return the first line of an error's message, without its full stop."""
    return str(error).strip().partition("\n")[0].rstrip(".")
