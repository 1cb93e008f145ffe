// The errors of the contract, and how they cross the wire.
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Metadata, status } from "@grpc/grpc-js";

import { StatusSchema } from "../gen/rpc_status_pb.js";
import { ErrorSchema } from "../gen/swarm/plugin/v1/plugin_pb.js";

const codes: Record<string, status> = {
  INVALID_SPEC: status.INVALID_ARGUMENT,
  INVALID_CONFIG: status.INVALID_ARGUMENT,
  INVALID_HANDLE: status.INVALID_ARGUMENT,
  STALE_HANDLE: status.ABORTED,
  NOT_FOUND: status.NOT_FOUND,
  EXISTS: status.ALREADY_EXISTS,
  SURVIVORS: status.FAILED_PRECONDITION,
  UNSUPPORTED: status.UNIMPLEMENTED,
  PERMISSION: status.PERMISSION_DENIED,
  TOO_LATE: status.FAILED_PRECONDITION,
  UNAVAILABLE: status.UNAVAILABLE,
};

/** An error of the contract: reasons of the table in plugin.proto, and a text for the user that says what to change. */
export class Failure extends Error {
  constructor(
    readonly reasons: string[],
    message: string,
  ) {
    super(message);
  }
}

/** What gRPC sends for an error of a call. The Error travels in the details of the status. */
export function wired(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  const reasons = error instanceof Failure ? error.reasons : [];
  const code = codes[reasons[0] ?? ""] ?? status.UNKNOWN;
  const details = create(StatusSchema, { code, message, details: [anyPack(ErrorSchema, create(ErrorSchema, { message, reasons }))] });
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(toBinary(StatusSchema, details)));
  return { code, details: message, metadata };
}
