package host

import (
	"context"

	"github.com/swarmhost/swarm/host/registry"
)

// teams looks at what the database says of teams, if there are any.
func (d *doctor) teams(ctx context.Context) {
	const subject = "teams"
	var teams []registry.Team
	var agents []registry.Agent
	var warnings []string
	err := d.h.View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		var more []string
		if teams, warnings, err = tx.Teams(ctx); err == nil {
			agents, more, err = tx.Agents(ctx, registry.AgentQuery{})
		}
		warnings = append(warnings, more...)
		return err
	})
	switch {
	case err != nil:
		d.find(SeverityError, subject, "see to the cause; if the database is at fault, run 'swarm doctor --rebuild'", "%v", err)
	case len(warnings) == 0 && len(teams) > 0:
		d.find(SeverityOK, subject, "", "%d, with %d agent(s)", len(teams), len(agents))
	}
	for _, w := range warnings {
		d.find(SeverityWarning, subject, "its worker can be killed by 'swarm kill'; the rest goes with 'swarm team delete'", "%s", w)
	}
}
