package main_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/proc"
)

// TestServesContainersAlone: a process outside can't pass for a worker by starting the server
// of that worker.
func TestServesContainersAlone(t *testing.T) {
	t.Parallel()
	self, err := proc.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	until := strconv.Itoa(self.PID) + ":" + strconv.FormatUint(self.Start, 10) + ":" + self.Boot
	for name, c := range map[string]struct{ container, want string }{
		"any group":    {"/", "needs the id of a container"},
		"no group":     {"", "needs the id of a container"},
		"no container": {strings.Repeat("a", 64), "is not in container"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(w.dir, "sock"), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			f, err := l.File()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			server := w.command(ctx, "swarm-mcp", "-worker", "leader", "-container", c.container, "-until", until)
			server.ExtraFiles = []*os.File{f}
			if out, err := server.CombinedOutput(); err == nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
