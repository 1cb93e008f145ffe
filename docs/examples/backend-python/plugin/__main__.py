"""swarm-plugin-nice: a backend for swarm.

The program has two lives: the plugin, which swarm starts for every call and which
holds no state, and the shim, one for each worker, which stays until its worker
has ended.
"""

import sys

NAME = "nice"
VERSION = "0.1.0"


def main():
    if sys.argv[1:2] == ["keep"]:
        import shim  # without gRPC: it starts in milliseconds

        shim.main(*sys.argv[2:])
        return
    import backend
    import serve

    serve.serve(NAME, VERSION, backend.Backend)


main()
