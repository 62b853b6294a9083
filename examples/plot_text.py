"""
Does it work for text classification?
=====================================

Text becomes a sparse matrix with thousands of columns, one per word. The ensemble accepts sparse
matrices. This example predicts the part of SciPy that a page of documentation belongs to.
"""

import inspect

import matplotlib.pyplot as plt
import pandas as pd
from scipy import interpolate, linalg, ndimage, optimize, signal, sparse, special, stats
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from skliquid import LiquidEnsembleClassifier

plt.style.use("skliquid.plotting.skliquid")

# %%
# The texts are the first 500 characters of docstrings, the classes are their modules.

texts, topics = [], []
for module in (interpolate, linalg, ndimage, optimize, signal, sparse, special, stats):
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name)) or ""
        if len(text) > 500:
            texts.append(text[:500])
            topics.append(module.__name__.removeprefix("scipy."))
texts_train, texts_test, y_train, y_test = train_test_split(
    texts, topics, stratify=topics, random_state=0
)
print(len(texts), "texts, for example:", texts[0].splitlines()[0])

# %%
# The pipeline is the same as for any other classifier. Module names are stop words, since they
# would make the task too easy.

model = make_pipeline(
    TfidfVectorizer(
        sublinear_tf=True, token_pattern="[a-z]{3,}", stop_words=["scipy", *set(topics)]
    ),
    LiquidEnsembleClassifier(random_state=0),
)
model.fit(texts_train, y_train)
vectorizer, ensemble = model[0], model[1]
print(f"{ensemble.n_features_in_:,} words, accuracy {model.score(texts_test, y_test):.3f}")
print(ensemble.record_.summary())

# %%
figure, ax = plt.subplots(figsize=(5.5, 4.6), layout="constrained")
ConfusionMatrixDisplay.from_estimator(
    model,
    texts_test,
    y_test,
    normalize="true",
    values_format=".0%",
    cmap="Blues",
    xticks_rotation=45,
    colorbar=False,
    ax=ax,
)
ax.grid(visible=False)
plt.show()

# %%
# The most important words:

words = pd.Series(ensemble.feature_importances_, vectorizer.get_feature_names_out())
top = words.sort_values().tail(15)
figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
ax.barh(top.index, top, color="#0072B2")
ax.set(xlabel="Importance")
ax.grid(visible=False, axis="y")
plt.show()

# %%
# **To take away:** sparse matrices need no special treatment; with more than 5,000 columns only
# linear voters are used. Some of these words are about the subject, others only about the style of
# the authors: check which features a classifier uses before you trust its accuracy.
