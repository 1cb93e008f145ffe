package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
)

// ServerHost is the address that servers of teams listen on.
const ServerHost = "127.0.0.1"

// Server is the command that the agents of a team share.
type Server struct {
	Worker string `json:"-"`
	// Port is its present or last port. PID is 0 if it does not run.
	Port           int              `json:"port" jsonschema:"TCP port that it listens on" schema:"number"`
	PID            int              `json:"pid" jsonschema:"Its main process" schema:"number"`
	IsRunning      bool             `json:"isRunning" jsonschema:"Its process is alive and the port answers"`
	ActiveSessions int              `json:"activeSessions" jsonschema:"How many agents use it" schema:"number"`
	Hostname       string           `json:"hostname" jsonschema:"Address that it listens on"`
	StartedAt      humane.Timestamp `json:"startedAt" jsonschema:"When it was started"`
}

func serverOn(w worker.Worker, port int, running bool, sessions int) *Server {
	return &Server{
		Worker: w.Name, Hostname: ServerHost, Port: port, PID: w.PID, IsRunning: running, ActiveSessions: sessions,
		StartedAt: humane.At(w.Started),
	}
}

// serverStarts is how often the server is started for one agent: another call may be ending
// it.
const serverStarts = 3

const dialLimit = 2 * time.Second

// serve starts the server of a team if needed, and prevents its stop until release is
// called. The port is 0 if the team has no server.
func serve(ctx context.Context, h *host.Host, teamName string) (port int, release func(), err error) {
	for range serverStarts {
		s, err := serverOf(ctx, h, teamName)
		if err != nil || s == nil {
			return 0, func() {}, err
		}
		release, err := h.TeamServers().Hold(ctx, teamName, false)
		if err != nil {
			return 0, nil, err
		}
		port, err := useServer(ctx, h, teamName)
		if err == nil && port != 0 {
			return port, release, nil
		}
		release()
		if err == nil {
			err = restartServer(ctx, h, teamName)
		}
		if err != nil {
			return 0, nil, err
		}
	}
	return 0, nil, fmt.Errorf("the server of team '%s' does not stay up", teamName)
}

// serverOf returns the server of a team, nil if it has none.
func serverOf(ctx context.Context, h *host.Host, teamName string) (*registry.Server, error) {
	return view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) (*registry.Server, error) {
		t, err := team.Get(ctx, tx, teamName)
		return t.Server, err
	})
}

// useServer notes that the server of a team is used, and returns where it listens;
// 0 if it does not run.
func useServer(ctx context.Context, h *host.Host, teamName string) (int, error) {
	s, err := serverOf(ctx, h, teamName)
	if err != nil || s == nil {
		return 0, err
	}
	if _, ok, err := serverRuns(ctx, h, s); err != nil || !ok {
		return 0, err
	}
	return s.Port, editTeam(ctx, h, teamName, func(t *registry.Team) { t.Server.Used = true })
}

func editTeam(ctx context.Context, h *host.Host, name string, edit func(*registry.Team)) error {
	return h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		t, err := team.Get(ctx, tx, name)
		if err != nil {
			return err
		}
		edit(&t)
		return tx.PutTeam(ctx, &t)
	})
}

// serverRuns returns the worker of a server, and whether its process lives and its port
// answers.
func serverRuns(ctx context.Context, h *host.Host, s *registry.Server) (worker.Worker, bool, error) {
	if s.WorkerID == "" {
		return worker.Worker{}, false, nil
	}
	ws, _, err := h.Workers(ctx, worker.Selection{Names: []string{s.WorkerID}})
	if errors.Is(err, store.ErrNotFound) {
		return worker.Worker{}, false, nil
	}
	if err != nil || len(ws) == 0 {
		return worker.Worker{}, false, err
	}
	return ws[0], ws[0].Status == worker.StatusRunning && answers(ctx, s.Port), nil
}

func address(port int) string { return net.JoinHostPort(ServerHost, strconv.Itoa(port)) }

func answers(ctx context.Context, port int) bool {
	d := net.Dialer{Timeout: dialLimit}
	c, err := d.DialContext(ctx, "tcp", address(port))
	if err != nil {
		return false
	}
	_ = c.Close() // nothing was written
	return true
}

// restartServer starts the server of a team, unless another call did so meanwhile.
func restartServer(ctx context.Context, h *host.Host, teamName string) error {
	release, err := h.TeamServers().Hold(ctx, teamName, true)
	if err != nil {
		return err
	}
	defer release()
	s, err := serverOf(ctx, h, teamName)
	if err != nil || s == nil {
		return err
	}
	if _, ok, err := serverRuns(ctx, h, s); err != nil || ok {
		return err
	}
	_, _, err = startServer(ctx, h, teamName, *s)
	return err
}
