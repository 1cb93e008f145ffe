package input

import (
	"context"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/swarm"
)

// envTerm is the variable that says what a terminal can do.
const envTerm = "TERM"

// Exec returns the program that runs a second command in a running worker, see [swarm.Execer]. It
// replaces the caller, which closes the host before. o.Shim is set here. With o.TTY the command has the
// terminal of the caller, and so its TERM unless o.Env has another one.
//
// The command can end the worker's programs and change its files, so a caller that may kill a team's worker
// may run one in it.
func (s *Sender) Exec(ctx context.Context, name string, o swarm.ExecOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	recs, _, err := s.Roster.Pick(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return swarm.Program{}, err
	}
	if err := s.Roster.MayEnd(ctx, recs...); err != nil {
		return swarm.Program{}, err
	}
	if term := environ.Get(s.Env, envTerm); o.TTY && term != "" {
		o.Env = append([]string{envTerm + "=" + term}, o.Env...)
	}
	rec, err := s.live(ctx, recs[0])
	var program swarm.Program
	if err == nil {
		err = s.interact(ctx, rec, swarm.CapExec, func(ctx context.Context, p *backend.Peer) error {
			local, err := s.Plugins.Local(p, rec.ID)
			if err != nil {
				return err
			}
			if o.Shim = ""; local != nil {
				o.Shim = local.Shim
			}
			program, err = p.Backend.Exec(ctx, rec.Handle, o)
			return err
		})
	}
	return program, worker.WithName(err, "cannot exec in", rec.Name)
}
