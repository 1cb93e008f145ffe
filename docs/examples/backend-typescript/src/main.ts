// swarm-plugin-nice: a backend for swarm, which starts it for every call.
import { version } from "../package.json";
import { Backend } from "../gen/swarm/plugin/v1/backend_pb";
import { Kind } from "../gen/swarm/plugin/v1/plugin_pb";
import { makeBackend, options, settings } from "./backend";
import { serve } from "./serve";

serve({ name: "nice", version, kind: Kind.BACKEND, service: Backend, local: true, settings, options, make: makeBackend });
