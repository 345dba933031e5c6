"""Lets tests import the truth that lies beside them (linear_kit)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
