"""Models in onnxruntime, and whether they predict as ours do."""

import numpy as np
import onnxruntime

from skliquid import to_onnx

TOLERANCE = 1e-9  # less than the promised 1e-6: a larger difference is a rounding to float32
TEXT = "tensor(string)"


def session_of(onnx_model):
    return onnxruntime.InferenceSession(
        onnx_model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def inputs_of(session, X):
    """Return what a session takes of an array, or of a data frame: one input per column."""
    if not hasattr(X, "columns"):
        return {"X": X}
    inputs = {}
    for column in session.get_inputs():
        values = X[column.name]
        if column.type == TEXT:
            texts = ["" if v is None or v != v else str(v) for v in values.astype(object)]
            inputs[column.name] = np.array(texts, dtype=object)[:, None]
        else:
            inputs[column.name] = values.to_numpy(np.float64)[:, None]
    return inputs


def run(onnx_model, X):
    session = session_of(onnx_model)
    return session.run(["label", "probabilities"], inputs_of(session, X))


def assert_same(model, X, *, dtype="float64", tolerance=TOLERANCE):
    """Assert that onnxruntime gives the labels and probabilities of ``model``."""
    labels, probabilities = run(to_onnx(model, dtype=dtype), X)
    exact = X.astype(np.float64) if dtype == "float32" else X
    np.testing.assert_array_equal(labels, model.predict(exact))
    np.testing.assert_allclose(probabilities, model.predict_proba(exact), rtol=0, atol=tolerance)
