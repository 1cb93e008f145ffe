package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// CreateRequest is the request of [CreateTeam].
type CreateRequest struct {
	Name, Description string
	// Server is the command of a server that its agents share; empty: none.
	// {port} in it is replaced by a free port of [ServerHost].
	Server []string
	// Dir is the server's working directory, absolute.
	Dir string
}

// Created is a new team.
type Created struct {
	// Leader is the id of its leader.
	Leader string
	// Server is nil if it has none.
	Server   *Server
	Warnings []string
}

// CreateTeam creates a team. Its leader is the caller: the worker in which the caller runs,
// or a person. If the server does not listen in time, that is an error, and the team is
// removed.
func CreateTeam(ctx context.Context, h *host.Host, req CreateRequest) (Created, error) {
	caller, err := h.Caller(ctx)
	if err != nil {
		return Created{}, err
	}
	if err := team.CheckName(req.Name); err != nil {
		return Created{}, err // before a lock is called like it
	}
	n := team.New{Name: req.Name, Description: req.Description}
	if len(req.Server) > 0 {
		if !filepath.IsAbs(req.Dir) {
			return Created{}, fmt.Errorf("the working directory '%s' is not an absolute path", req.Dir)
		}
		n.Server = &registry.Server{Command: req.Server, Dir: req.Dir}
	}
	// No agent is to be there before the server was seen.
	release, err := h.HoldServer(ctx, req.Name, true)
	if err != nil {
		return Created{}, err
	}
	defer release()
	err = h.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		now := time.Now()
		if _, err := team.Create(ctx, tx, caller, n, now); err != nil {
			return err
		}
		return team.Touch(ctx, tx, caller, now)
	})
	if err != nil {
		return Created{}, err
	}
	out := Created{Leader: team.Leader}
	if n.Server != nil {
		w, port, err := startServer(ctx, h, req.Name, *n.Server)
		if err != nil {
			return Created{}, errors.Join(err, unmake(context.WithoutCancel(ctx), h, req.Name, w.ID))
		}
		out.Server = &Server{Worker: w.Name, Host: ServerHost, Port: port, PID: w.PID, Running: true, Started: w.Started}
	}
	return out, nil
}

func unmake(ctx context.Context, h *host.Host, teamName, serverID string) error {
	var err error
	if serverID != "" {
		var outs []host.CleanOutcome
		outs, err = h.Clean(ctx, host.Selection{Names: []string{serverID}}, host.CleanRequest{})
		for _, out := range outs {
			err = errors.Join(err, out.Err)
		}
	}
	return errors.Join(err, h.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		return tx.DeleteTeam(ctx, teamName)
	}))
}
