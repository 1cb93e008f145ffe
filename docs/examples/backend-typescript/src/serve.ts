// What every plugin does, whatever it is for: the handshake, the service Plugin, and to leave when the
// host is gone. docs/protocol.md of swarm describes it.
import { existsSync, readFile, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { create, fromBinary, toBinary, type DescMessage, type DescService, type MessageShape } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type MethodDefinition, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";

import { Backend } from "../gen/swarm/plugin/v1/backend_pb";
import { Kind, Plugin, CheckResponseSchema, ConfigureResponseSchema, DescribeResponseSchema } from "../gen/swarm/plugin/v1/plugin_pb";
import type { ConfigureRequest, DescribeRequest } from "../gen/swarm/plugin/v1/plugin_pb";
import { Failure, wired } from "./errors";

const contract = 1;
const cookie = "4a1f9d5e2c7b4d6f8e30b1c2a5d79f64";
const maxMessage = 64 << 20;

/** A call yields its answers; one whose answers are no stream yields one. The signal ends with the call. */
export type Call = (request: any, signal: AbortSignal) => AsyncIterable<unknown>;

/** The calls of a backend, by the names of the methods with a small first letter. */
export interface Served {
  capabilities: string[];
  calls: Record<string, Call>;
}

/** Serves a plugin until its host is gone. The backend is made once its settings are known. */
export function serve(name: string, version: string, make: (settings: Record<string, unknown>, runDirs: string) => Served) {
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
  const backend = (settings: Record<string, unknown> = {}): Served => {
    if (made === undefined) {
      try {
        made = make(settings, runDirs);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        made = error;
      }
    }
    if (made instanceof Failure) throw made;
    return made;
  };
  const capabilities = (settings?: Record<string, unknown>) => backend(settings).capabilities;

  const plugin: Record<string, Call> = {
    async *describe(request: DescribeRequest) {
      runDirs = Buffer.from(request.runDirs).toString();
      let known: string[] = [];
      try {
        known = request.configFollows ? [] : capabilities();
      } catch {
        // Describe answers even then; the calls say why.
      }
      yield create(DescribeResponseSchema, { name, version, kind: Kind.BACKEND, contractVersion: contract, local: true, capabilities: known });
    },
    async *configure(request: ConfigureRequest) {
      yield create(ConfigureResponseSchema, { capabilities: capabilities(JSON.parse(Buffer.from(request.json).toString())) });
    },
    async *check() {
      backend();
      yield create(CheckResponseSchema);
    },
  };

  const server = new Server({ "grpc.max_receive_message_length": maxMessage, "grpc.max_send_message_length": maxMessage });
  add(server, Plugin, (method) => plugin[method]);
  add(server, Backend, (method) => (request, signal) => {
    const call = backend().calls[method];
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
      try {
        for await (const answer of call(context.request, ended.signal)) {
          if (!responseStream) return callback(null, answer);
          if (!context.write(answer)) await new Promise((resolve) => (context.once("drain", resolve), ended.signal.addEventListener("abort", resolve)));
        }
        if (responseStream) context.end();
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
