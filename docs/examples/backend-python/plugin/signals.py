"""Names of signals, as a host and its users write them."""

import signal

from errors import Failure

KNOWN = {s.name for s in signal.Signals if not s.name.startswith("SIGRT")}


def number_of(text):
    name = text.upper()
    for candidate in (name, "SIG" + name):
        if candidate in KNOWN:
            return int(signal.Signals[candidate])
    raise Failure("INVALID_SPEC", f"unknown signal '{text}' (try SIGTERM, SIGINT, SIGHUP or SIGKILL)")


def name_of(number):
    return signal.Signals(number).name
