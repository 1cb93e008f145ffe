"""swarm-plugin-nice: a backend for swarm, which starts it for every call."""

import backend
import serve
import version  # the Makefile writes it

serve.serve("nice", version.VERSION, backend.Backend)
