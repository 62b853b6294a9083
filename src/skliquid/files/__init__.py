"""Model files: models saved and loaded as data, without executing anything.

``saving`` has the public functions, ``container`` the file format, ``values`` the JSON document
and ``fields`` its checks. The others describe the objects that files can store.
"""
