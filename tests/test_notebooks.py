import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier

from skliquid import LiquidEnsembleClassifier, notebooks, prune


def test_a_fitted_ensemble_says_in_one_sentence_what_was_learned(binary):
    ensemble = LiquidEnsembleClassifier(random_state=0)
    assert "representatives after" not in ensemble._repr_html_()
    ensemble.fit(*binary)
    sentence = "Of 24 voters 5 are left as representatives after 3 increments"
    assert sentence in ensemble._repr_html_()
    assert sentence in ensemble._repr_mimebundle_()["text/html"]


def test_the_sentence_is_left_out_where_text_is_asked_for(binary):
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(*binary)
    with sklearn.config_context(display="text"):
        assert set(ensemble._repr_mimebundle_()) == {"text/plain"}


def test_a_pruned_ensemble_shows_itself_too(binary):
    forest = RandomForestClassifier(20, random_state=0).fit(*binary)
    assert "Of 20 voters" in prune(forest, *binary, n_final=4, random_state=0)._repr_html_()


def test_the_diagram_links_to_the_docs_if_their_address_is_known(binary, monkeypatch):
    monkeypatch.setattr(notebooks, "documentation", lambda: "https://docs.example")
    link = LiquidEnsembleClassifier()._get_doc_link()
    assert link.startswith("https://docs.example/")
    assert "LiquidEnsembleClassifier" in link
    monkeypatch.setattr(notebooks, "documentation", lambda: "")
    assert LiquidEnsembleClassifier()._get_doc_link() == ""


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (["Source, https://s", "Documentation, https://d/"], "https://d"),
        (["Source, https://s"], ""),
        (None, ""),
    ],
    ids=["known", "another", "none"],
)
def test_the_address_of_the_docs_comes_from_the_package_s_metadata(
    addresses, expected, monkeypatch
):
    class Metadata:
        def get_all(self, name):
            return addresses if name == "Project-URL" else None

    monkeypatch.setattr(notebooks, "metadata", lambda name: Metadata())
    assert notebooks.documentation.__wrapped__() == expected
