package caller

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/proc"
)

// sharedServers are programs that run the commands and tools of several sessions in one
// process, with the environment of the process that started it first. A process below one of them
// can't be attributed to a session.
var sharedServers = []struct {
	// program is the base name of the executable or script.
	program string
	// mode returns the mode of a program with these arguments that serves several clients;
	// empty if it has at most one client.
	mode func(args []string) string
	// advice is a hint how to avoid it.
	advice string
}{
	{"codex", codexServer, "start codex with --no-daemon"},
	{"opencode", opencodeServer, "start opencode by itself, not attached to a server"},
}

// codexServer recognises `codex app-server --listen unix://…`, which interactive
// sessions share, and `codex exec-server`. On stdin and stdout, as editors start it, an
// app-server has one client.
func codexServer(args []string) string {
	if slices.Contains(args, "exec-server") {
		return "exec-server"
	}
	at := slices.Index(args, "app-server")
	if at < 0 {
		return ""
	}
	for i, arg := range args[at:] {
		address, ok := strings.CutPrefix(arg, "--listen=")
		if arg == "--listen" && at+i+1 < len(args) {
			address, ok = args[at+i+1], true
		}
		if ok && address != "stdio://" && address != "off" || arg == "--managed-daemon" {
			return "app-server"
		}
	}
	return ""
}

// opencodeServer recognises a server that clients attach to.
func opencodeServer(args []string) string {
	if len(args) > 0 && (args[0] == "serve" || args[0] == "web") {
		return args[0]
	}
	return ""
}

// checkShared returns a [team.UnprovenError] if a program that serves several sessions
// is between the calling process and the shim above it.
func checkShared() error {
	var err error
	climb(ParentPID(), func(p proc.Process) bool {
		err = shared(p.PID, proc.Args(p.PID))
		return err != nil
	})
	return err
}

func shared(pid int, args []string) error {
	// The first argument of an interpreter is the script.
	for i := range min(2, len(args)) {
		program := strings.TrimSuffix(filepath.Base(args[i]), ".js")
		for _, s := range sharedServers {
			if program != s.program {
				continue
			}
			if mode := s.mode(args[i+1:]); mode != "" {
				return &team.UnprovenError{Why: fmt.Sprintf("this runs below '%s %s' (pid %d), which serves several sessions; %s", s.program, mode, pid, s.advice)}
			}
		}
	}
	return nil
}
