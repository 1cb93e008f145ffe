// swarm-plugin-notes: tools for people and agents, which swarm starts for every call.
import { version } from "../package.json";
import { Kind } from "../gen/swarm/plugin/v1/plugin_pb";
import { Tools } from "../gen/swarm/plugin/v1/tools_pb";
import { serve } from "./serve";
import { makeTools, settings } from "./tools";

serve({ name: "notes", version, kind: Kind.TOOLS, service: Tools, settings, make: makeTools });
