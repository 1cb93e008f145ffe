// The package as its users import it, by its name.
import assert from "node:assert/strict";
import { test } from "node:test";

import { create, toJson } from "@bufbuild/protobuf";
import { Failure, answers, bytes, serve } from "@swarmhost/plugin";
import { Backend } from "@swarmhost/plugin/v1/backend";
import { Kind } from "@swarmhost/plugin/v1/plugin";
import { StatusRequestSchema } from "@swarmhost/plugin/v1/status";

test("what is exported", () => {
  assert.equal(typeof serve, "function");
  assert.equal(new TextDecoder().decode(bytes({ a: 1 })), '{"a":1}');
  assert.equal(Backend.typeName, "swarm.plugin.v1.Backend");
  assert.equal(Kind.BACKEND, 1);
  const request = create(StatusRequestSchema, { handles: [{ version: 1, data: bytes("x") }] });
  assert.deepEqual(toJson(StatusRequestSchema, request), { handles: [{ version: 1, data: "Ingi" }] });
});

test("without swarm-shim", async () => {
  const call = answers("", "status", Backend.method.status, create(StatusRequestSchema), AbortSignal.timeout(60_000));
  await assert.rejects(call.next(), (error) => error instanceof Failure && error.reasons[0] === "UNAVAILABLE");
});
