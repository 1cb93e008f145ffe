package spawn

import (
	"fmt"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// sessionID is what a session id may look like: it is one argument, and no option.
var sessionID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// resumed returns the command with which the agent of a worker goes on with a conversation;
// empty: with the one that its hooks told, or that its command names.
func (s *Spawner) resumed(rec registry.Record, session string) ([]string, error) {
	p := s.opts.Display.ProfileOf(&rec)
	switch {
	case rec.Ralph:
		return nil, worker.Hinted(
			fmt.Sprintf("'%s' is a loop", rec.Name),
			fmt.Sprintf("'swarm ralph resume --continue %s' continues its agent's conversation", rec.Name),
		)
	case p == nil:
		return nil, worker.Hinted(
			fmt.Sprintf("cannot resume '%s': it has no profile that says how", rec.Name),
			"'swarm agent profiles' lists the profiles; 'swarm spawn --profile NAME' gives a worker one",
		)
	}
	if session == "" {
		session = s.session(&rec, p)
	}
	if session == "" {
		return nil, worker.Hinted(
			fmt.Sprintf("cannot resume '%s': its conversation is not known", rec.Name),
			fmt.Sprintf("after 'swarm integrate %s' its hooks report it; else name it with --session ID", p.Name()),
		)
	}
	if !sessionID().MatchString(session) {
		return nil, worker.Invalid("invalid session '%s': expected letters, digits and ._:-", session)
	}
	command, err := p.Resume(rec.Command, session)
	if err != nil {
		return nil, worker.Hinted(
			fmt.Sprintf("cannot resume '%s': %v", rec.Name, err),
			fmt.Sprintf("'swarm respawn %s' starts it anew", rec.Name),
		)
	}
	return command, nil
}

// session returns the id of the conversation that a worker's agent has, or had; empty: it
// is not known.
func (s *Spawner) session(rec *registry.Record, p *profile.Profile) string {
	if id := hookstate.Session(s.opts.Dir.RunDir(rec.ID)); id != "" {
		return id
	}
	return p.SessionIn(rec.Command)
}
