// The service Backend: workers on this machine, with a low priority.
//
// Each worker has a swarm-shim, which does most of the work; see shim.ts. Make the rest your own: what a worker
// runs in is decided by spawn. All calls may come at the same time, each to another process of this plugin:
// nothing is remembered here.
import { create } from "@bufbuild/protobuf";

import { Backend, CheckSpawnRequestSchema, type CheckSpawnRequest, type SpawnRequest } from "../gen/swarm/plugin/v1/backend_pb.js";
import { Failure } from "./errors.js";
import type { Call, Served } from "./serve.js";
import { answers } from "./shim.js";

// What shims can do.
const capabilities = [
  "output", "watch", "batch-status", "find", "input", "signal", "stats", "complete", "check-spawn",
  "set-limits", "pause", "stdin", "restart", "owner", "transcript", "sandbox", "limit-memory",
  "limit-cpus", "limit-pids", "limit-nice", "limit-io-weight",
];

// What users can set, as swarm checks, completes and documents it: docs/protocol.md of swarm describes it.
export const settings = {
  type: "object",
  properties: {
    nice: {
      type: "integer", minimum: 0, maximum: 19, default: 10,
      description: "The priority of workers, from 0, the usual one, to 19, the lowest.",
    },
  },
};
export const options = {
  type: "object",
  properties: {
    nice: {
      type: "integer", minimum: 0, maximum: 19,
      description: "The priority of the worker, in place of that of the settings.",
    },
  },
};

export function makeBackend(given: Record<string, unknown>, runDirs: string): Served {
  const unknown = Object.keys(given).find((key) => key !== "nice");
  if (unknown !== undefined) throw new Failure(["INVALID_CONFIG"], `unknown setting '${unknown}'; there is: nice`);
  const usual = priority("INVALID_CONFIG", given["nice"] ?? 10);

  const { spawn, checkSpawn, status, kill, watch, output, find, input, signal, stats, complete, setLimits, setPaused } = Backend.method;
  // A call that is the shim's, whose handles are ours too.
  const pass = (verb: string, method: any): Call => (request, ended) => answers(runDirs, verb, method, request, ended);

  return {
    capabilities,
    calls: {
      async *spawn(request: SpawnRequest, ended) {
        const nice = priorityOf(request, usual);
        // With a wrapper around it the shim can't know that there is no such command.
        for await (const _ of answers(runDirs, "check", checkSpawn, create(CheckSpawnRequestSchema, { spec: request }), ended));
        request.command.unshift(...["nice", "-n", String(nice)].map((word) => new TextEncoder().encode(word)));
        yield* answers(runDirs, "start", spawn, request, ended);
      },
      async *checkSpawn(request: CheckSpawnRequest, ended) {
        if (request.spec) priorityOf(request.spec, usual);
        yield* answers(runDirs, "check", checkSpawn, request, ended);
      },
      status: pass("status", status),
      kill: pass("kill", kill),
      watch: pass("watch", watch),
      output: pass("logs", output),
      find: pass("find", find),
      input: pass("send", input),
      signal: pass("signal", signal),
      stats: pass("stats", stats),
      complete: pass("complete", complete),
      setLimits: pass("limits", setLimits),
      setPaused: pass("pause", setPaused),
    },
  };
}

/** The priority of a worker. An option that no caller knows is an error, never ignored. */
export function priorityOf(spec: Pick<SpawnRequest, "options">, usual: number): number {
  const unknown = Object.keys(spec.options).find((key) => key !== "nice");
  if (unknown !== undefined) throw new Failure(["INVALID_SPEC"], `nice has no option '${unknown}'`);
  return priority("INVALID_SPEC", spec.options["nice"] ?? usual);
}

/** A priority, from settings, where it is a number, or from an option. */
function priority(reason: string, value: unknown): number {
  const nice = value === "" ? NaN : Number(value);
  if (!Number.isInteger(nice) || nice < 0 || nice > 19) {
    throw new Failure([reason], `nice is '${value}', it has to be a number from 0 to 19`);
  }
  return nice;
}
