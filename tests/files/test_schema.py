import json
from pathlib import Path

import pytest
from file_mutations import references

from skliquid.files import container
from skliquid.files.schema import json_schema

PUBLISHED = Path(__file__).parents[2] / "docs" / "model_file.schema.json"


def test_the_published_schema_is_that_of_the_source():
    again = "python -m skliquid.files.schema > docs/model_file.schema.json"
    assert json.loads(PUBLISHED.read_text()) == json.loads(json.dumps(json_schema())), again


def test_documents_follow_the_schema(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json_schema())
    for name, reference in references(tmp_path).items():
        document = container.read(reference.path).document
        assert validator.is_valid(document), name
        document["kind"] = "unheard of"
        assert not validator.is_valid(document)
