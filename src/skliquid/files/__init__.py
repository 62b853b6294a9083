"""Model files: models saved and loaded as data, without executing anything.

Parts declare what files hold of them (:mod:`skliquid.delegation.storable`). ``saving`` has the
public functions, ``documents`` walks over the parts of a model, ``container`` is the file format.
"""
