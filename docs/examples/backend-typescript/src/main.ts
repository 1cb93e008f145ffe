// swarm-plugin-nice: a backend for swarm, which starts it for every call.
import { version } from "../package.json";
import { Backend } from "../gen/swarm/plugin/v1/backend_pb.js";
import { Kind } from "../gen/swarm/plugin/v1/plugin_pb.js";
import { makeBackend, options, settings } from "./backend.js";
import { serve } from "./serve.js";

serve({ name: "nice", version, kind: Kind.BACKEND, service: Backend, local: true, settings, options, make: makeBackend });
