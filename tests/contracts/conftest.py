"""Lets the contract classes import what they share (contract.py)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
