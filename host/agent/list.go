package agent

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
)

// Team is the state of a team at one moment.
type Team struct {
	Name, Description string
	Created           time.Time
	// Leader is the name of the worker that leads it; empty if people do, or if that worker
	// is gone.
	Leader string
	// Agents are the names of the agents that have not ended, in the order in which
	// they came.
	Agents []string
	// Server says that its agents share a server.
	Server bool
}

// Teams returns all teams in the order of their names. A team that can't be read is left
// out and named in warnings. It changes nothing.
func Teams(ctx context.Context, h *host.Host) (teams []Team, warnings []string, err error) {
	err = h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		rows, unreadable, err := tx.Teams(ctx)
		if err != nil {
			return err
		}
		warnings = unreadable
		for _, row := range rows {
			t := Team{Name: row.Name, Description: row.Description, Created: row.Created, Server: row.Server != nil}
			if row.LeaderWorker != "" {
				rec, err := tx.Get(ctx, row.LeaderWorker)
				if err != nil && !errors.Is(err, registry.ErrNotFound) {
					warnings = append(warnings, err.Error())
				}
				t.Leader = rec.Name
			}
			agents, unreadable, err := tx.Agents(ctx, registry.AgentQuery{Team: row.Name, Live: true})
			if err != nil {
				return err
			}
			warnings = append(warnings, unreadable...)
			for _, a := range agents {
				t.Agents = append(t.Agents, a.Name)
			}
			teams = append(teams, t)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return teams, warnings, err
}
