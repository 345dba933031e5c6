"""What every model promises. A new model gets all of these tests by one subclass:

    class TestMyModel(Contract):
        def make(self, **params):
            return lt.MyModel(**params)

Everything here goes through the public surface: fit, predict, save, load, explain, describe.
"""

from __future__ import annotations

from contract_inputs import Inputs
from contract_rankings import Rankings
from contract_repeats import Repeats
from contract_settings import Settings
from contract_stops import Stops

__all__ = ["Contract"]


class Contract(Settings, Inputs, Rankings, Repeats, Stops):
    """All of it."""
