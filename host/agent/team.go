package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

// CreateRequest is the request of [CreateTeam].
type CreateRequest struct {
	TeamName    string `json:"teamName" jsonschema:"Name of the team: letters, digits, hyphens and underscores" schema:"min=1"`
	Description string `json:"description,omitempty" jsonschema:"What the team is for"`
	// Server is empty for none. It listens on [ServerHost].
	Server []string `json:"server,omitempty" jsonschema:"Command that all agents share, such as an OpenCode server; {port} in it is replaced by a free port" schema:"min=1"`
	// Dir is the server's working directory, absolute.
	Dir string `json:"-"`
}

// Created is a new team, as the tool spawn-team returns it.
type Created struct {
	Leader   string   `json:"leader" jsonschema:"Member ID of the leader, which is the caller"`
	Warnings []string `json:"warnings,omitempty" jsonschema:"Problems that did not make the call fail"`
	// Server is nil if it has none.
	Server *Server `json:"-"`
}

// CreateTeam creates a team. Its leader is the caller: the worker in which the caller runs,
// or a person. If the server does not listen in time, that is an error, and the team is
// removed.
func CreateTeam(ctx context.Context, h *host.Host, req CreateRequest) (Created, error) {
	caller, err := h.Callers().Caller(ctx)
	if err != nil {
		return Created{}, err
	}
	if err := team.CheckName(req.TeamName); err != nil {
		return Created{}, err // before a lock is called like it
	}
	n := team.New{Name: req.TeamName, Description: req.Description}
	if len(req.Server) > 0 {
		if !filepath.IsAbs(req.Dir) {
			return Created{}, fmt.Errorf("the working directory '%s' is not an absolute path", req.Dir)
		}
		n.Server = &registry.Server{Command: req.Server, Dir: req.Dir}
	}
	// No agent is to be there before the server was seen.
	release, err := h.TeamServers().Hold(ctx, req.TeamName, true)
	if err != nil {
		return Created{}, err
	}
	defer release()
	err = h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
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
		w, port, err := startServer(ctx, h, req.TeamName, *n.Server)
		if err != nil {
			return Created{}, errors.Join(err, unmake(ctx, h, req.TeamName, w.ID))
		}
		out.Server = serverOn(w, port, true, 0)
	}
	return out, nil
}

// undoLimit bounds each step that undoes what failed, which continues after the caller gave up.
var undoLimit = 30 * time.Second

// undoContext returns a context for one such step.
func undoContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(ctx), undoLimit, fmt.Errorf("gave up after %s", undoLimit))
}

// unmake removes a team that has just been created, and the worker of its server if there is
// one. The team goes even if the worker can't be removed: otherwise its name would stay
// taken.
func unmake(ctx context.Context, h *host.Host, teamName, serverID string) error {
	var err error
	if serverID != "" {
		cleaning, cancel := undoContext(ctx)
		defer cancel()
		var outs []kill.Outcome
		outs, err = h.Kill().Clean(cleaning, worker.Selection{Names: []string{serverID}}, kill.CleanRequest{})
		for _, out := range outs {
			err = errors.Join(err, out.Err)
		}
	}
	deleting, cancel := undoContext(ctx)
	defer cancel()
	return errors.Join(err, h.Store().Change(deleting, func(ctx context.Context, tx *registry.Tx) error {
		return tx.DeleteTeam(ctx, teamName)
	}))
}
