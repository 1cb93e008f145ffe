package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// startServer starts the server of a team and returns when it listens. The caller holds its
// lock. An old process of the server is ended first. The server listens on its previous
// port if it can, since agents know that port.
func startServer(ctx context.Context, h *host.Host, teamName string, s registry.Server) (w worker.Worker, port int, err error) {
	before := s.Port
	if before != 0 {
		if err := endWorker(ctx, h, s.WorkerID); err != nil {
			return w, 0, fmt.Errorf("cannot start the server of team '%s': %w", teamName, err)
		}
	}
	if s.Port, err = freePort(ctx, before); err != nil {
		return w, 0, err
	}
	w, err = startServerAt(ctx, h, teamName, &s)
	if err != nil && s.Port == before && ctx.Err() == nil {
		// Not every program can listen so soon after another one.
		if s.Port, err = freePort(ctx, 0); err == nil {
			w, err = startServerAt(ctx, h, teamName, &s)
		}
	}
	if err != nil {
		err = fmt.Errorf("cannot start the server of team '%s': %w", teamName, err)
	}
	return w, s.Port, err
}

// startServerAt is startServer for a port. A server that does not listen is ended.
func startServerAt(ctx context.Context, h *host.Host, teamName string, s *registry.Server) (w worker.Worker, err error) {
	name, former, err := serverWorker(ctx, h, teamName)
	if err != nil {
		return w, err
	}
	req := spawn.Request{Name: name, Team: teamName, Backend: pipes, Command: fill(s.Command, placePort, strconv.Itoa(s.Port)), Dir: s.Dir}
	if former {
		w, err = h.Spawn().Respawn(ctx, name, spawn.RespawnRequest{As: &req})
	} else {
		w, err = h.Spawn().Spawn(ctx, req)
	}
	if err != nil {
		return w, err
	}
	s.WorkerID = w.ID
	unreachable := w.Sandbox != nil && w.Sandbox.Network == swarm.NetworkNone
	err = editTeam(ctx, h, teamName, func(t *registry.Team) { t.Server = s })
	switch {
	case err != nil:
	case unreachable:
		err = errNoNetwork
	default:
		err = awaitPort(ctx, h, w, s.Port)
	}
	if err != nil {
		ending, cancel := undoContext(ctx)
		defer cancel()
		err = errors.Join(err, endWorker(ending, h, w.ID))
	}
	return w, err
}

var errNoNetwork = errors.New("its sandbox has no network, so no agent can reach it: sandbox_network = \"host\" in [defaults] of your config gives it that of the machine")

const (
	// serverNames is how many names are tried for the worker of a server.
	serverNames = 9
	// serverLimit is how long a server may take until it listens.
	serverLimit = 15 * time.Second
	// dialEvery is how often a port is tried: there is no event for an open port.
	dialEvery = 50 * time.Millisecond
)

// serverWorker returns the name for the worker of a team's server, and whether that worker,
// the previous server, exists already.
func serverWorker(ctx context.Context, h *host.Host, teamName string) (name string, former bool, err error) {
	names := make([]string, serverNames)
	for i := range names {
		names[i] = numbered(teamName+"-server", i+1)
	}
	recs, err := view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) ([]registry.Record, error) {
		recs, _, err := tx.Read(ctx, registry.Query{Names: names})
		return recs, err
	})
	if err != nil {
		return "", false, err
	}
	taken := map[string]bool{}
	for _, r := range recs {
		if r.Team == teamName && r.Agent == "" {
			return r.Name, true, nil
		}
		taken[r.Name] = true
	}
	for _, name := range names {
		if !taken[name] {
			return name, false, nil
		}
	}
	return "", false, fmt.Errorf("workers '%s' to '%s' exist already", names[0], names[len(names)-1])
}

// freePort returns a port without a listener: the wanted one, if it is free.
func freePort(ctx context.Context, wanted int) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address(wanted))
	if err != nil && wanted != 0 {
		l, err = lc.Listen(ctx, "tcp", address(0))
	}
	if err != nil {
		return 0, fmt.Errorf("cannot find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

func awaitPort(ctx context.Context, h *host.Host, w worker.Worker, port int) error {
	limited, cancel := context.WithTimeout(ctx, serverLimit)
	ended := make(chan worker.Worker, 1)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel()
	waiting.Go(func() {
		_ = h.Wait(limited, worker.Selection{Names: []string{w.ID}}, func(w worker.Worker) { ended <- w })
	})
	for {
		listens := answers(limited, port)
		// The program that answers may be another one.
		select {
		case w := <-ended:
			return endedEarly(ctx, h, w, port)
		default:
		}
		if listens {
			return nil
		}
		if sleep.For(limited, dialEvery) == nil {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("it did not listen on %s:%d within %s", ServerHost, port, serverLimit)
	}
}

func endedEarly(ctx context.Context, h *host.Host, w worker.Worker, port int) error {
	text := fmt.Sprintf("it ended before it listened on %s:%d", ServerHost, port)
	if w.Exit != nil {
		text += fmt.Sprintf(" (exit %d)", w.Exit.Code)
	}
	if p, err := h.Display().Peek(ctx, w.ID, 1); err == nil && len(p.Lines) > 0 {
		text += ": " + p.Lines[len(p.Lines)-1]
	}
	return errors.New(text)
}
