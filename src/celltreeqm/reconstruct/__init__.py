"""The whole run on plain values: fit, signal test, fallback, support, tree, placement and verdict."""

from ._fallback import Verdict as Verdict
from ._fallback import decide as decide
from ._signal import SignalTest as SignalTest
from ._signal import signal_test as signal_test
