package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *Backend) CheckSpawn(ctx context.Context, c swarm.SpawnCheck) error {
	t, err := accept(c.Spec)
	if err != nil {
		return err
	}
	if err := shim.CheckSpawn(c); err != nil {
		return err
	}
	return b.checkServer(ctx, server{label: t.label, env: serverEnv(c.Spec.Local.HostEnv)})
}

// checkServer returns why the server opens no window: it does not answer, or a client can neither
// reach nor start it.
func (b *Backend) checkServer(ctx context.Context, srv server) error {
	socket := srv.socketPath()
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: tmux can't use the socket %s: %s; choose another one with --tmux-socket",
			swarm.ErrInvalidSpec, socket, fmt.Sprintf(format, args...))
	}
	if len(socket) > maxSocketPath {
		return refuse("its path has %d bytes, and %d are allowed", len(socket), maxSocketPath)
	}
	if info, err := os.Stat(socket); err == nil && info.IsDir() {
		return refuse("it is a directory")
	}
	// This starts no server.
	_, err := b.queries.ask(ctx, srv, []string{"list-sessions", "-F", ""})
	said, refused := errors.AsType[failure](err)
	switch {
	case errors.Is(err, errSilent):
		return hangs(err)
	case !refused:
		return err
	case mentionsRights(said.text):
		return refuse("%s", said.text)
	}
	return nil // no server runs there yet
}

// maxSocketPath is the longest path of a socket that every system takes.
const maxSocketPath = 103

// socketPath returns where a tmux in the server's environment looks for its socket.
func (s server) socketPath() string {
	dir := cmp.Or(environ.Get(s.env, "TMUX_TMPDIR"), "/tmp")
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, fmt.Sprintf("tmux-%d", os.Getuid()), cmp.Or(s.label, "default"))
}

// mentionsRights reports whether a refusal is about the rights of the socket or of its directory: a
// server could not be started there either. tmux has one exit code for all refusals.
func mentionsRights(text string) bool { return strings.Contains(strings.ToLower(text), "permission") }
