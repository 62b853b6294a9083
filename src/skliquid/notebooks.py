"""ShownInNotebooks: scikit-learn's diagram of an estimator, and what its training led to."""

from abc import ABC, abstractmethod
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

from skliquid.record import TrainingRecord


class ShownInNotebooks(ABC):
    """Adds to scikit-learn's diagram a link to the docs and, after training, one sentence.

    The link needs the address of the docs: that of ``Documentation`` in the package's metadata.
    """

    _doc_link_module = "skliquid"

    def _repr_html_inner(self) -> str:
        diagram: Any = super()
        return f"{diagram._repr_html_inner()}{self._learned()}"  # noqa: SLF001 (overridden here)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        diagram: Any = super()
        shown: dict[str, str] = diagram._repr_mimebundle_(**options)
        if "text/html" in shown:
            shown["text/html"] += self._learned()
        return shown

    def _learned(self) -> str:
        """Return the sentence as HTML; empty before training."""
        if not self.__sklearn_is_fitted__():
            return ""
        return f'<div style="font-family:sans-serif">{escape(self.record_.summary())}</div>'

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool: ...

    @property
    @abstractmethod
    def record_(self) -> TrainingRecord:
        """What happened at each increment."""

    def _get_doc_link(self) -> str:
        address = documentation()
        return address and f"{address}/api/ensemble.html#skliquid.{type(self).__name__}"


@cache
def documentation() -> str:
    """Return the address of the docs, without a slash at its end; empty if none is known."""
    try:
        addresses = metadata("skliquid").get_all("Project-URL") or []
    except PackageNotFoundError:  # a copy of the source that was not installed
        return ""
    named: dict[str, str] = dict(address.split(", ", 1) for address in addresses)
    return named.get("Documentation", "").rstrip("/")
