"""What goes wrong with model files."""


class ModelFileError(ValueError):
    """A file that holds no valid model, or a model that a file cannot hold."""
