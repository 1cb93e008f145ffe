package plugin

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/handshake"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
)

const (
	// drainLimit is how long running calls may take to obey their context. A host gives
	// a plugin 200 ms before it kills it.
	drainLimit = 100 * time.Millisecond
	// leaveLimit is how long the author's code may delay the end of the process.
	leaveLimit = 200 * time.Millisecond
)

type life struct {
	server  *rpc.Server
	leaving sync.Once

	mu   sync.Mutex
	grpc *grpc.Server // nil before go-plugin made it
}

// serves records the server to stop.
func (l *life) serves(g *grpc.Server) *grpc.Server {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grpc = g
	return g
}

func (l *life) watch() {
	// SIGINT goes to the whole foreground group, and the host handles it. SIGPIPE
	// would end the process when it logs to a host that is gone, before it has removed
	// its socket. Both are caught and dropped: children would inherit ignored signals.
	dropped := make(chan os.Signal, 1)
	signal.Notify(dropped, syscall.SIGINT, syscall.SIGPIPE)

	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as by nohup
		signal.Notify(end, syscall.SIGHUP)
	}
	go func() {
		for {
			select {
			case <-dropped:
			case <-end:
				go l.leave()
			}
		}
	}()
	if pipe := deathPipe(); pipe != nil {
		go func() {
			// An error means that the file is something else than a pipe.
			if _, err := io.Copy(io.Discard, pipe); err == nil {
				l.leave()
			}
		}()
	}
}

func deathPipe() *os.File {
	fd, err := strconv.Atoi(os.Getenv(handshake.EnvDeath))
	if err != nil || fd <= 2 {
		return nil
	}
	// The plugin's children must not inherit it, and a read must not block a thread.
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "host")
}

// leave ends the calls, then the server, which removes its socket and makes [Serve]
// return.
func (l *life) leave() {
	l.leaving.Do(func() {
		time.AfterFunc(leaveLimit, func() { exit(0) })
		l.server.Shutdown(drainLimit)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.grpc == nil {
			exit(0) // there is no socket yet, and no host that needs one
		}
		l.grpc.Stop()
	})
}

func refuse(why string) {
	fmt.Fprintln(os.Stderr, why)
	exit(1)
}

// exit is the only place where the SDK ends the process: the main of a plugin is [Serve]
// and nothing else.
func exit(code int) {
	os.Exit(code) //nolint:forbidigo // see above
}
