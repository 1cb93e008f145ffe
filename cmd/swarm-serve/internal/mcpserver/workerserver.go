package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/host/lockfile"
	"github.com/swarmhost/swarm/host/mcp"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/accept"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// listenerFD is the descriptor of the socket that clients in a container connect to.
	listenerFD = 3
	// maxClients is how many clients there may be at the same time.
	maxClients = 8
)

var containerID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// serveWorker serves the clients in the container of a worker, until its first process ends.
func serveWorker(o options, errs *os.File, env []string) error {
	os.Stdout = errs
	listener, err := listen()
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	// Without these checks a worker outside could pass for another one by this command line.
	if !containerID.MatchString(o.container) || o.until.PID <= 1 {
		return errors.New("-worker needs the id of a container with -container, and its first process with -until")
	}
	if !isInside(o.until.PID, o.container) {
		return fmt.Errorf("process %d is not in container %s", o.until.PID, o.container)
	}
	// The mark of a helper is about this process; its calls are the worker's.
	own := slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, swarm.EnvShim+"=") })
	s := source{setup: setup.Setup{Env: own, Command: "swarm mcp", Worker: o.worker}}
	s.setup.LogTo("swarm-serve", errs)
	dir, err := s.setup.StateDir()
	if err != nil {
		return err
	}
	unlock, err := lockfile.Try(statedir.Dir(dir).ServerLock(o.worker))
	if err != nil {
		return err
	}
	if unlock == nil {
		return fmt.Errorf("another process serves worker %s", o.worker)
	}
	defer unlock()

	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, leave := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer leave()
	work.Go(func() {
		_ = proc.AwaitEnd(ctx, o.until)
		leave()
	})
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()

	slots := make(chan struct{}, maxClients)
	for {
		accepted, err := accept.Next(listener, func(err error) { s.warn("clients wait", "worker", o.worker, "error", err) })
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("wait for clients: %w", err)
		}
		conn := accepted.(*net.UnixConn)
		select {
		case slots <- struct{}{}:
		default:
			_ = conn.Close()
			continue
		}
		work.Go(func() {
			defer func() { <-slots }()
			defer func() { _ = conn.Close() }()
			// A panic about one client must not end the server of the others.
			defer func() {
				if why := recover(); why != nil {
					s.warn("panic", "worker", o.worker, "error", fmt.Sprint(why), "stack", string(debug.Stack()))
				}
			}()
			if !isIn(conn, o.container) {
				return
			}
			if err := s.runsIn(ctx, o.container); err != nil {
				s.warn("a client was turned away", "worker", o.worker, "error", err)
				return
			}
			ctx, done := context.WithCancel(ctx)
			defer done()
			defer context.AfterFunc(ctx, func() { _ = conn.CloseRead() })()
			err := mcp.Serve(ctx, mcp.Options{
				In: conn, Out: conn, Version: setup.ReadBuild().Version, Outside: true,
				Env:    func(string) tool.Env { return tool.Env{Open: s.open} },
				Logger: s.logger(errs),
			})
			if err != nil {
				s.warn("a client was not served to its end", "worker", o.worker, "error", err)
			}
		})
	}
}

// recordLimit is how long the record of a worker may take to say what its container is. The
// first client may come before the spawn ends.
const recordLimit = 10 * time.Second

// runsIn checks that the worker which is served runs in a container: its backend says so with
// the id of the worker's place. The command line proves nothing, since anybody can start this
// program.
func (s source) runsIn(ctx context.Context, container string) error {
	ctx, cancel := context.WithTimeout(ctx, recordLimit)
	defer cancel()
	h, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	return h.Store().AwaitChange(ctx, func(ctx context.Context) (bool, error) {
		var r registry.Record
		err := h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
			r, err = tx.Get(ctx, s.setup.Worker)
			return err
		})
		switch {
		case err != nil:
			return false, err
		case r.State == registry.Starting && r.Handle.IsZero():
			return false, nil
		case r.Place.ID == container:
			return true, nil
		}
		// The record lacks it if the backend could not be asked right after the start, or has
		// learned to say it since.
		ws, _, err := h.Workers(ctx, worker.Selection{Names: []string{r.ID}})
		switch {
		case err != nil:
			return false, err
		case len(ws) != 1 || ws[0].Where.ID != container:
			return false, fmt.Errorf("worker '%s' does not run in container %s", r.Name, container)
		}
		return true, nil
	})
}

// listen returns the socket that this process was started with.
func listen() (*net.UnixListener, error) {
	f := os.NewFile(listenerFD, "clients")
	if f == nil {
		return nil, errors.New("-worker needs a socket as descriptor 3")
	}
	l, err := net.FileListener(f)
	_ = f.Close()
	if err != nil {
		return nil, fmt.Errorf("descriptor 3: %w", err)
	}
	u, ok := l.(*net.UnixListener)
	if !ok {
		_ = l.Close()
		return nil, errors.New("descriptor 3 is not a unix socket")
	}
	return u, nil
}

// parseProcess reads PID:START:BOOT.
func parseProcess(text string) (id proc.Identity, err error) {
	parts := strings.SplitN(text, ":", 3)
	if len(parts) != 3 {
		return id, errors.New("expected PID:START:BOOT")
	}
	var errs [2]error
	id.PID, errs[0] = strconv.Atoi(parts[0])
	id.Start, errs[1] = strconv.ParseUint(parts[1], 10, 64)
	id.Boot = parts[2]
	return id, errors.Join(errs[:]...)
}

// RunRelay is the program in a container, where its name is swarm and 'mcp' its only command. It
// returns the exit code.
func RunRelay(command string, args []string, in io.Reader, out, errs *os.File) int {
	err := errors.New("in a container, swarm has only the command 'swarm mcp'")
	if command == "mcp" {
		err = relay(args, in, out)
	}
	return setup.Finish(err, errs)
}

// relay connects its client with the server of the container, which is outside.
func relay(args []string, in io.Reader, out io.Writer) error {
	if len(args) > 0 {
		return errors.New("in a container, 'swarm mcp' takes no arguments")
	}
	path := filepath.Join(rundir.ServerTarget, rundir.ServerSocket)
	conn, err := net.Dial("unix", path) //nolint:noctx // a local socket answers at once
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("no right to use %s: this process runs as another user than its worker", path)
	}
	if err != nil {
		return fmt.Errorf("no server of swarm answers at %s: %w", path, errtext.Cause(err))
	}
	defer func() { _ = conn.Close() }()
	go func() {
		// An error shows up below.
		_, _ = io.Copy(conn, in)
		_ = conn.(*net.UnixConn).CloseWrite()
	}()
	n, err := io.Copy(out, conn)
	if n == 0 && (err == nil || errors.Is(err, syscall.ECONNRESET)) {
		return errors.New("the server of swarm has turned this client away: this worker has too many, or is ending")
	}
	return err
}
