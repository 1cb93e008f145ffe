// Calls of swarm-shim, the parent of one worker, which outlives the plugin: it keeps the output and the exit
// of the worker, and ends it with all that it started. Its verbs take the requests of the contract as JSON
// and print the answers; docs/shim.md of swarm describes them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { fromJson, toJsonString, type DescMessage, type MessageShape } from "@bufbuild/protobuf";

import { Failure } from "./errors.js";

const program = process.env["SWARM_SHIM_PROGRAM"];

/** A method of the contract: the types of its request and its answers. */
export interface Method<I extends DescMessage, O extends DescMessage> {
  input: I;
  output: O;
}

/** Yields the answers to a call. The call ends with the signal, and when the plugin leaves. */
export async function* answers<I extends DescMessage, O extends DescMessage>(
  runDirs: string, verb: string, method: Method<I, O>, request: MessageShape<I>, signal: AbortSignal,
): AsyncGenerator<MessageShape<O>> {
  if (!program) throw new Failure(["UNAVAILABLE"], "there is no swarm-shim: install it next to swarm");
  const child = spawn(program, [verb, "--request", "--run-dirs", runDirs], { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  closed.catch(() => {}); // it is awaited below
  const end = () => child.kill();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    child.stdin.on("error", () => {}); // it has left, and says why
    child.stdin.end(toJsonString(method.input, request));
    for await (const line of createInterface({ input: child.stdout })) {
      const message = JSON.parse(line);
      if (message.error && Object.keys(message).length === 1) {
        throw new Failure(message.error.reasons, message.error.message); // of the call, not of one worker
      }
      yield fromJson(method.output, message, { ignoreUnknownFields: true });
    }
    const [code] = await closed;
    if (code !== 0 && code !== 1) throw new Failure(["UNAVAILABLE"], `swarm-shim ${verb} has failed with code ${code}`);
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}
