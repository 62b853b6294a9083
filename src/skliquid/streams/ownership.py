"""Whose a file is."""

import os
import sys
from pathlib import Path


def check_owner(path: Path, *, parameter: str) -> None:
    """Raise unless the file belongs to the user.

    Modes are not looked at: some file systems show all files as writable for everyone.
    """
    if sys.platform == "win32":  # owners are not numbers
        return
    owner, user = path.stat().st_uid, os.geteuid()
    if owner != user:
        raise PermissionError(
            f"{parameter} must belong to you, user {user}: {path} belongs to user {owner}. Copy it "
            "if you trust that user, or start from scratch with restart=True (--restart)."
        )
