"""Tables that have what real ones have, as files."""

from file_tables import table, write

__all__ = ["table", "write"]
