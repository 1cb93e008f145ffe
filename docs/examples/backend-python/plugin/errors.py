"""The errors of the contract, and how they cross the wire."""

import grpc
import rpc_status_pb2
from swarm.plugin.v1 import plugin_pb2


class Failure(Exception):
    """An error of the contract: a reason of the table in plugin.proto, or an empty text,
    and a text for the user that says what to change."""

    def __init__(self, reason, text):
        super().__init__(text)
        self.reason = reason

    def proto(self):
        return plugin_pb2.Error(message=str(self), reasons=[self.reason] if self.reason else [])


CODES = {
    "INVALID_SPEC": grpc.StatusCode.INVALID_ARGUMENT,
    "INVALID_CONFIG": grpc.StatusCode.INVALID_ARGUMENT,
    "INVALID_HANDLE": grpc.StatusCode.INVALID_ARGUMENT,
    "STALE_HANDLE": grpc.StatusCode.ABORTED,
    "NOT_FOUND": grpc.StatusCode.NOT_FOUND,
    "EXISTS": grpc.StatusCode.ALREADY_EXISTS,
    "SURVIVORS": grpc.StatusCode.FAILED_PRECONDITION,
    "UNSUPPORTED": grpc.StatusCode.UNIMPLEMENTED,
    "PERMISSION": grpc.StatusCode.PERMISSION_DENIED,
    "TOO_LATE": grpc.StatusCode.FAILED_PRECONDITION,
    "UNAVAILABLE": grpc.StatusCode.UNAVAILABLE,
}


def abort(context, failure):
    """Ends a call with an error. The Error travels in the details of the status."""
    code = CODES.get(failure.reason, grpc.StatusCode.UNKNOWN)
    status = rpc_status_pb2.Status(code=code.value[0], message=str(failure))
    status.details.add().Pack(failure.proto())
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, str(failure))
