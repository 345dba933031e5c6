"""The command line: ``longtail VERB …``. A verb parses its arguments, calls the library and prints."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """The entry point of the command ``longtail``."""
    import sys

    from .app import app

    if hasattr(sys.stdout, "reconfigure"):
        # Label names are any Unicode: pipes get UTF-8 whatever the locale, a terminal what it can show.
        piped = not sys.stdout.isatty()
        sys.stdout.reconfigure(encoding="utf-8" if piped else None, errors="backslashreplace")
    app(prog_name="longtail")
