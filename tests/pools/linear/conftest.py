import pytest

pytest.register_assert_rewrite("linear_voters")
