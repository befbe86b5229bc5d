"""The whole run on plain values: fit, signal test, fallback, support, tree, placement and verdict."""

from ._signal import SignalTest as SignalTest
from ._signal import signal_test as signal_test
