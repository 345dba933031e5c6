"""``python -m longtail`` is the command ``longtail``."""

from .cli import main

main()
