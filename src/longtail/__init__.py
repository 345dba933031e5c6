"""longtail."""
