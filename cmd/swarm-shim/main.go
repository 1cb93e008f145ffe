// Swarm-shim is the parent of one worker: it records the worker's output, process tree and
// exit while no host is running. Plugins start it; see docs/shim.md and
// [github.com/swarmhost/swarm/shared/shim/rundir] for how to talk to it.
//
// With a verb, such as "status", it becomes swarm-plugins, which talks to shims for programs that
// can't link the client.
package main

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/swarmhost/swarm/shared/shim/server"
)

// client is the program that has the verbs, and the library that a shim does not need.
const client = "swarm-plugins"

// verbs are the verbs of the client. A run directory is never called like one: plugins name it by
// its whole path.
var verbs = []string{
	"check", "complete", "copy-in", "copy-out", "find", "help", "-h", "--help", "kill", "limits", "logs", "pause", "send", "signal", "start", "stats",
	"status", "wait", "watch",
}

func main() {
	if len(os.Args) > 1 && slices.Contains(verbs, os.Args[1]) {
		os.Exit(become())
	}
	os.Exit(server.Main(os.Args[1:]))
}

// become replaces this program by the client, which knows by the name that it is one. It returns
// only after an error.
func become() int {
	own, err := os.Executable()
	if err == nil {
		path := filepath.Join(filepath.Dir(own), client)
		err = syscall.Exec(path, append([]string{"swarm-shim"}, os.Args[1:]...), os.Environ())
		err = &os.PathError{Op: "start", Path: path, Err: err}
	}
	os.Stderr.WriteString("swarm-shim: error: " + err.Error() + "; install " + client + " next to swarm-shim ('make install')\n")
	return 1
}
