"""Calls of swarm-shim, the parent of one worker, which outlives the plugin: it keeps the output
and the exit of the worker, and ends it with all that it started. Its verbs take the requests of
the contract as JSON and print the answers; docs/shim.md of swarm describes them."""

import contextlib
import json
import os
import subprocess

from errors import Failure
from google.protobuf import json_format

PROGRAM = os.environ.pop("SWARM_SHIM_PROGRAM", "")


def answers(context, run_dirs, verb, request, kind):
    """Yields the answers to a call, messages of a kind. The call ends with its context."""
    if not PROGRAM:
        raise Failure("UNAVAILABLE", "there is no swarm-shim: install it next to swarm")
    process = subprocess.Popen(
        [PROGRAM, verb, "--request", "--run-dirs", run_dirs], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process, ended(process):
        if not context.add_callback(process.terminate):
            process.terminate()  # the context has ended already
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json_format.MessageToJson(request).encode())
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        for line in process.stdout:
            message = json.loads(line)
            if message.keys() == {"error"}:  # of the call, not of one worker
                raise Failure(next(iter(message["error"]["reasons"]), ""), message["error"]["message"])
            yield json_format.ParseDict(message, kind(), ignore_unknown_fields=True)
    if process.returncode not in (0, 1):
        raise Failure("UNAVAILABLE", f"swarm-shim {verb} has failed with code {process.returncode}")


@contextlib.contextmanager
def ended(process):
    """Ends a process whose answers are not read to their end."""
    try:
        yield
    except BaseException:
        process.terminate()
        raise
