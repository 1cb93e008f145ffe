// swarm-plugin-nice: a backend for swarm, which starts it for every call.
import { makeBackend } from "./backend";
import { serve } from "./serve";

serve("nice", "0.1.0", makeBackend);
