// swarm-plugin-notes: tools for people and agents, which swarm starts for every call.
import { version } from "../package.json";
import { Kind } from "../gen/swarm/plugin/v1/plugin_pb.js";
import { Tools } from "../gen/swarm/plugin/v1/tools_pb.js";
import { serve } from "./serve.js";
import { makeTools, settings } from "./tools.js";

serve({ name: "notes", version, kind: Kind.TOOLS, service: Tools, settings, make: makeTools });
