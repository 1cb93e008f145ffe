"""swarm-plugin-nice: a backend for swarm, which starts it for every call."""

import backend
import serve

NAME = "nice"
VERSION = "0.1.0"

serve.serve(NAME, VERSION, backend.Backend)
