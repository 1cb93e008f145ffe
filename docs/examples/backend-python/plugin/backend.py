"""The service Backend: workers on this machine, with a low priority.

Each worker has a swarm-shim, which does most of the work; see shim.py. Make the rest your own:
what a worker runs in is decided by Spawn. All calls may come at the same time, each to another
process of this plugin: nothing is remembered here.
"""

import shim
from errors import Failure
from swarm.plugin.v1 import backend_pb2 as pb
from swarm.plugin.v1 import status_pb2


class Backend:
    # What shims can do.
    capabilities = [
        "output", "watch", "batch-status", "find", "input", "signal", "stats", "complete", "check-spawn",
        "set-limits", "pause", "stdin", "restart", "owner", "transcript", "sandbox", "limit-memory",
        "limit-cpus", "limit-pids", "limit-nice", "limit-io-weight",
    ]
    # What users can set, as swarm checks, completes and documents it: docs/protocol.md.
    SETTINGS = {"type": "object", "properties": {"nice": {
        "type": "integer", "minimum": 0, "maximum": 19, "default": 10,
        "description": "The priority of workers, from 0, the usual one, to 19, the lowest."}}}
    OPTIONS = {"type": "object", "properties": {"nice": {
        "type": "integer", "minimum": 0, "maximum": 19,
        "description": "The priority of the worker, in place of that of the settings."}}}

    def __init__(self, settings, run_dirs):
        self.run_dirs = run_dirs
        unknown = set(settings) - {"nice"}
        if unknown:
            raise Failure("INVALID_CONFIG", f"unknown setting '{min(unknown)}'; there is: nice")
        self.nice = priority("INVALID_CONFIG", settings.get("nice", 10))

    def Spawn(self, request, context):
        nice = self.priority_of(request)
        # With a wrapper around it the shim can't know that there is no such command.
        self.CheckSpawn(pb.CheckSpawnRequest(spec=request), context)
        request.command[:] = [b"nice", b"-n", b"%d" % nice, *request.command]
        return self.answer(context, "start", request, pb.SpawnResponse)

    def CheckSpawn(self, request, context):
        self.priority_of(request.spec)
        return self.answer(context, "check", request, pb.CheckSpawnResponse)

    def priority_of(self, spec):
        """The priority of a worker. An option that no caller knows is an error, never ignored."""
        for key in spec.options:
            if key != "nice":
                raise Failure("INVALID_SPEC", f"nice has no option '{key}'")
        return priority("INVALID_SPEC", spec.options.get("nice", self.nice))

    # The other calls are the shim's, whose handles are ours too.

    def Status(self, request, context):
        return self.answer(context, "status", request, status_pb2.StatusResponse)

    def Kill(self, request, context):
        return self.answers(context, "kill", request, pb.KillResponse)

    def Watch(self, request, context):
        return self.answers(context, "watch", request, pb.WatchResponse)

    def Output(self, request, context):
        return self.answers(context, "logs", request, pb.OutputResponse)

    def Find(self, request, context):
        return self.answer(context, "find", request, pb.FindResponse)

    def Input(self, request, context):
        return self.answer(context, "send", request, pb.InputResponse)

    def Signal(self, request, context):
        return self.answer(context, "signal", request, pb.SignalResponse)

    def Stats(self, request, context):
        return self.answer(context, "stats", request, pb.StatsResponse)

    def Complete(self, request, context):
        return self.answer(context, "complete", request, pb.CompleteResponse)

    def SetLimits(self, request, context):
        return self.answer(context, "limits", request, pb.SetLimitsResponse)

    def SetPaused(self, request, context):
        return self.answer(context, "pause", request, pb.SetPausedResponse)

    def answer(self, context, verb, request, kind):
        [message] = self.answers(context, verb, request, kind)
        return message

    def answers(self, context, verb, request, kind):
        return shim.answers(context, self.run_dirs, verb, request, kind)


def priority(reason, value):
    """A priority, from settings, where it is a number, or from an option."""
    try:
        nice = int(value)
    except (TypeError, ValueError):
        nice = -1
    if not 0 <= nice <= 19:
        raise Failure(reason, f"nice is '{value}', it has to be a number from 0 to 19")
    return nice
