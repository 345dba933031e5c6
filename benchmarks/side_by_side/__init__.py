"""longtail beside PECOS, omikuji and napkinXC: the same data, the same settings, one process a measurement.

``python -m benchmarks.side_by_side.run --help`` runs it. Modules that a peer's environment loads (``worker``,
``machine``, ``systems``) need NumPy and SciPy only.
"""
