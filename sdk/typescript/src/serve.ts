// What every plugin does, whatever it is for: the handshake, the service Plugin, and to leave when the
// host is gone. docs/protocol.md of swarm describes it.
import { existsSync, readFile, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { create, fromBinary, toBinary, type DescMessage, type DescService, type MessageShape } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type MethodDefinition, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";

import { Plugin, CheckResponseSchema, ConfigureResponseSchema, DescribeResponseSchema } from "../gen/swarm/plugin/v1/plugin_pb.js";
import type { ConfigureRequest, DescribeRequest, Kind } from "../gen/swarm/plugin/v1/plugin_pb.js";
import { Failure, wired } from "./errors.js";

const contract = 1;
const cookie = "4a1f9d5e2c7b4d6f8e30b1c2a5d79f64";
const maxMessage = 64 << 20;

/** A call yields its answers; one whose answers are no stream yields one. The signal ends with the call. */
export type Call = (request: any, signal: AbortSignal) => AsyncIterable<unknown>;

/** The calls of the plugin's service, by the names of the methods with a small first letter. */
export interface Served {
  capabilities: string[];
  calls: Record<string, Call>;
}

/** What a plugin is. */
export interface Options {
  name: string;
  version: string;
  /** What it serves: Kind.BACKEND and Backend, for example. */
  kind: Kind;
  service: DescService;
  /** Whether it is a backend that runs its workers on this machine. */
  local?: boolean;
  /** What users can set, as swarm checks, completes and documents it; docs/protocol.md of swarm describes it. */
  settings: object;
  /** The same for the options of its workers or workspaces. */
  options?: object;
  /** Makes the service once the settings are known. A Failure is the error of all calls. */
  make(settings: Record<string, unknown>, runDirs: string): Served;
}

/** JSON as the protocol carries it. */
export const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** Serves a plugin until its host is gone. */
export function serve({ name, version, kind, service, local, settings, options, make }: Options) {
  if (process.env["SWARM_PLUGIN"] !== cookie) {
    console.error(`This is the plugin '${name}' of swarm. It is started by swarm: see 'swarm plugin list'.`);
    process.exit(1);
  }
  if (process.env["PLUGIN_CLIENT_CERT"]) {
    console.error(`The plugin '${name}' can't encrypt its connection: take mtls out of its config.`);
    process.exit(1);
  }
  let runDirs = "";
  let made: Served | Failure | undefined;
  const served = (given: Record<string, unknown> = {}): Served => {
    if (made === undefined) {
      try {
        made = make(given, runDirs);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        made = error;
      }
    }
    if (made instanceof Failure) throw made;
    return made;
  };
  const plugin: Record<string, Call> = {
    async *describe(request: DescribeRequest) {
      runDirs = Buffer.from(request.runDirs).toString();
      let known: string[] = [];
      try {
        if (!request.configFollows) known = served().capabilities;
      } catch {
        // Describe answers even then; the calls say why.
      }
      yield create(DescribeResponseSchema, {
        name, version, kind, local, contractVersion: contract, capabilities: known,
        settings: bytes(settings), options: options && bytes(options),
      });
    },
    async *configure(request: ConfigureRequest) {
      yield create(ConfigureResponseSchema, { capabilities: served(JSON.parse(Buffer.from(request.json).toString())).capabilities });
    },
    async *check() {
      served();
      yield create(CheckResponseSchema);
    },
  };

  const server = new Server({ "grpc.max_receive_message_length": maxMessage, "grpc.max_send_message_length": maxMessage });
  add(server, Plugin, (method) => plugin[method]);
  add(server, service, (method) => (request, signal) => {
    const call = served().calls[method];
    if (!call) throw new Failure(["UNSUPPORTED"], "not supported");
    return call(request, signal);
  });
  const path = join(process.env["PLUGIN_UNIX_SOCKET_DIR"] || tmpdir(), `plugin-${process.pid}.sock`);
  const leave = () => {
    if (existsSync(path)) rmSync(path);
    process.exit(0); // whatever a call still does
  };
  raw(server, "plugin.GRPCController", "Shutdown", () => {
    setTimeout(leave, 50); // once the answer is sent
    return Buffer.alloc(0);
  });
  raw(server, "grpc.health.v1.Health", "Check", () => Buffer.from([8, 1])); // serving
  // A Ctrl-C goes to the whole foreground group; the host decides what it means.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", leave);
  const death = process.env["SWARM_PLUGIN_DEATH_FD"];
  if (death) readFile(Number(death), leave); // it ends when the host is gone
  server.bindAsync("unix:" + path, ServerCredentials.createInsecure(), (error) => {
    if (error) throw error;
    // go-plugin's version, the plugin's version, where, and how. Nothing else may ever be written to
    // the standard output.
    process.stdout.write(`1|1|unix|${path}|grpc\n`);
  });
}

/** Serves all methods of a service. */
function add(server: Server, service: DescService, find: (method: string) => Call | undefined) {
  const definition: Record<string, MethodDefinition<any, any>> = {};
  const handlers: UntypedServiceImplementation = {};
  for (const method of service.methods) {
    const call = find(method.localName);
    if (!call || method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming") continue;
    const responseStream = method.methodKind === "server_streaming";
    definition[method.localName] = {
      path: `/${service.typeName}/${method.name}`,
      requestStream: false,
      responseStream,
      ...codec("request", method.input),
      ...codec("response", method.output),
    } as MethodDefinition<any, any>;
    handlers[method.localName] = async (context: any, callback: any) => {
      const ended = new AbortController();
      context.on("cancelled", () => ended.abort());
      let last: unknown;
      try {
        // To the end also without a stream: a call that is left after its answer could undo what it did.
        for await (const answer of call(context.request, ended.signal)) {
          last = answer;
          if (responseStream && !context.write(answer)) await new Promise((resolve) => (context.once("drain", resolve), ended.signal.addEventListener("abort", resolve)));
        }
        if (responseStream) context.end();
        else if (last === undefined) throw new Failure(["UNAVAILABLE"], "the call has ended without an answer");
        else callback(null, last);
      } catch (error) {
        if (responseStream) context.emit("error", wired(error));
        else callback(wired(error));
      }
    };
  }
  server.addService(definition as ServiceDefinition, handlers);
}

function codec<D extends DescMessage>(side: string, schema: D) {
  return {
    [side + "Serialize"]: (message: MessageShape<D>) => Buffer.from(toBinary(schema, message)),
    [side + "Deserialize"]: (bytes: Buffer) => fromBinary(schema, bytes),
  };
}

/** Serves a call of go-plugin's own, whose messages are empty or constant. */
function raw(server: Server, service: string, method: string, answer: () => Buffer) {
  const same = (bytes: Buffer) => bytes;
  const definition = {
    path: `/${service}/${method}`, requestStream: false, responseStream: false,
    requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same,
  };
  server.addService({ [method]: definition } as ServiceDefinition, { [method]: (_: unknown, callback: any) => callback(null, answer()) });
}
