"""Validation: everything that is checked when a public method is called.

Nothing below the public methods checks again. ``limits`` has the guards against overflow and
memory, ``parameters`` the rules for parameters, and ``input``, ``data_types`` and ``mapped_files``
those for rows, labels and weights.
"""
