"""The command line: ``longtail VERB …``. A verb parses its arguments, calls the library and prints."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """The entry point of the command ``longtail``."""
    from .app import app

    app(prog_name="longtail")
