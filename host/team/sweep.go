package team

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// Sweep records the status of the agents of a team, or of all teams if the name is empty.
// The keys of signs are the ids of their workers; agents without an entry are skipped. Each
// agent that became inactive is reported to the leader once; only agents whose process is
// gone lose their tasks.
func Sweep(ctx context.Context, tx *registry.Tx, teamName string, signs map[string]Signs, now time.Time) (warnings []string, err error) {
	agents, warnings, err := tx.Agents(ctx, registry.AgentQuery{Team: teamName, Live: true})
	if err != nil {
		return nil, err
	}
	for i := range agents {
		a := &agents[i]
		s, known := signs[a.WorkerID]
		if !known {
			continue
		}
		if s.Gone {
			more, err := Lost(ctx, tx, a.ID, s.Reason, now)
			if err != nil {
				return warnings, err
			}
			warnings = append(warnings, more...)
			continue
		}
		h := Judge(a, s, now)
		if h.Status == a.Status {
			continue
		}
		if s.Shows != "" && a.Status != registry.AgentInactive {
			continue // a screen is read at each query
		}
		a.Status, a.LastError = h.Status, h.Error
		if h.Status == registry.AgentInactive {
			if err := report(ctx, tx, a, a.LastError+". Its tasks stay with it.", now); err != nil {
				return warnings, err
			}
		}
		if err := tx.PutAgent(ctx, a); err != nil {
			return warnings, err
		}
	}
	return warnings, nil
}
