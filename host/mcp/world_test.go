package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/tool"
)

// world is a state directory with the team web, of which alice is an agent, and no
// plugin.
type world struct {
	dir string
	// called, which may be nil, gets each call of a tool when it begins.
	called func(tool string)
	// version is that of the protocol which clients speak; empty: the newest.
	version string
}

const aliceToken = "alice's"

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir()}
	h, err := w.openAs("")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(aliceToken))
	err = h.Store().Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
		now := time.Now()
		_, err := team.Create(ctx, tx, team.Caller{Person: true}, team.New{Name: "web"}, now)
		if err == nil {
			_, _, err = team.Join(ctx, tx, team.Entry{Team: "web", ID: "agent-aaaaaa", Name: "alice", Dir: w.dir}, "w1", "web-alice", hex.EncodeToString(sum[:]), now)
		}
		if err != nil {
			return err
		}
		return team.Activate(ctx, tx, "agent-aaaaaa", "", now)
	})
	if err := errors.Join(err, h.Close()); err != nil {
		t.Fatal(err)
	}
	return w
}

// openAs returns how the owner of a token opens a host; empty: a person.
func (w *world) openAs(token string) func(context.Context) (*host.Host, error) {
	env := []string{"PATH=" + filepath.Join(w.dir, "none"), "SWARM_SHIM=test"}
	if token != "" {
		env = append(env, "SWARM_TOKEN="+token)
	}
	return func(ctx context.Context) (*host.Host, error) {
		return host.Open(ctx, host.Options{Dir: filepath.Join(w.dir, "state"), Executable: filepath.Join(w.dir, "none", "swarm"), Env: env})
	}
}

// serve starts a server for the owner of a token, and a client of it.
func (w *world) serve(t *testing.T, token string, sets []tool.Set) *sdk.ClientSession {
	t.Helper()
	c, end := w.start(t, token, sets, nil)
	t.Cleanup(end)
	return c
}

// start is serve for who ends the server: end closes the connection and returns when the
// server has left.
func (w *world) start(t *testing.T, token string, sets []tool.Set, o *sdk.ClientOptions) (c *sdk.ClientSession, end func()) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	open := w.openAs(token)
	done := make(chan error, 1)
	go func() {
		done <- Serve(context.WithoutCancel(t.Context()), Options{
			In: in, Out: out, Version: "0", Session: shell.Session{ID: "test"}, Tools: sets,
			Env: func(name string) tool.Env {
				if w.called != nil && name != "" {
					w.called(name)
				}
				return tool.Env{Open: open, Dir: w.dir}
			},
		})
		_ = out.Close()
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, o)
	c, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, &sdk.ClientSessionOptions{ProtocolVersion: w.version})
	if err != nil {
		t.Fatal(err)
	}
	return c, func() {
		if err := errors.Join(c.Close(), toServer.Close(), <-done); err != nil {
			t.Error(err)
		}
	}
}

// send puts a message into the inbox of a member.
func (w *world) send(t *testing.T, to, text string) {
	t.Helper()
	w.change(t, func(ctx context.Context, tx *registry.Tx) error {
		return tx.AddMessage(ctx, &registry.Message{
			Team: "web", Sender: "agent-bbbbbb", Recipient: to, Type: registry.MessagePlain, Body: text, Time: time.Now(),
		})
	})
}

// change changes the registry.
func (w *world) change(t *testing.T, f func(context.Context, *registry.Tx) error) {
	t.Helper()
	h, err := w.openAs("")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(h.Store().Change(t.Context(), f), h.Close()); err != nil {
		t.Fatal(err)
	}
}
