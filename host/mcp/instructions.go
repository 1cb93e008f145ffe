package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/safetext"
)

// maxInstructions is how much of the instructions a client passes to its model.
const maxInstructions = 2 << 10

func (s *server) identify(ctx context.Context) {
	h, err := s.Open(ctx)
	if err != nil {
		s.callerUnknown = err
		return
	}
	s.caller, err = agent.Identify(ctx, h)
	s.callerUnknown = errors.Join(err, h.Close())
	if s.callerUnknown != nil {
		s.Logger.Warn("the caller is not known", "error", s.callerUnknown)
	}
}

func (s *server) instructions() string {
	var b strings.Builder
	b.WriteString(s.whoText() + "\n")
	sets := s.sets()
	if slices.Contains(sets, tool.Shells) {
		b.WriteString(`
Shells: Bash runs a command and waits for it; with run_in_background it returns a task_id
at once. BashOutput returns its output since the last call, tasks lists your
shells, KillShell ends one and everything it started. Shells end with this session.
`)
	}
	switch {
	case s.leads() && slices.Contains(sets, tool.Workers):
		b.WriteString(`
Workers outlive this session; each agent is one. worker-wait waits until it ends, is idle,
or writes something, worker-output reads its output since a cursor. Other workers are
started and ended by the command swarm (swarm spawn, swarm kill). The resource
swarm://workers/NAME is a worker's output.
`)
	case slices.Contains(sets, tool.Workers):
		b.WriteString(`
Workers outlive this session. worker-spawn starts one, worker-wait waits until it ends or
writes something, worker-output reads its output since a cursor, worker-send types
into it, worker-kill ends it and everything it started. The resource
swarm://workers/NAME is its output.
`)
	}
	if s.Outside {
		b.WriteString(`
Read your messages (read-messages) before you start, after each task and while you wait.
Take a task with task-claim and report with task-update that it is completed. Answer a
shutdown_request with respond-shutdown. During long work without a call send a heartbeat
every minute. The resource swarm://inbox has the unread messages.
`)
	} else if slices.Contains(sets, tool.Teams) {
		b.WriteString(`
Teams: the leader starts agents (spawn-agent), creates tasks (task-create), looks at an
agent's screen (peek-agent), wakes it (nudge-agent) and ends it (kill-agent asks it to
end; its answer comes as a message, or with wait). An agent reads its messages
(read-messages) before it starts, after each task and while it waits, takes a task with
task-claim and reports with task-update that it is completed. It answers a
shutdown_request with respond-shutdown. During long work without a call it sends a
heartbeat every minute. The resource swarm://inbox has the unread messages.
`)
	}
	b.WriteString(`
Every answer has success; if it is false, error says why, and nothing was changed unless
it says so.
`)
	return b.String()
}

func (s *server) whoText() string {
	c := s.membership()
	unproven, isUnproven := errors.AsType[*team.UnprovenError](s.callerUnknown)
	switch {
	case isUnproven:
		return "This session has shells of its own, but it is not a member of a team and has no rights in one: " + safetext.Line(unproven.Why) + "."
	case s.callerUnknown != nil:
		return safetext.Line(fmt.Sprintf("swarm can't determine who you are (%v), so tools of teams will refuse you.", s.callerUnknown))
	case c.Agent != "":
		return fmt.Sprintf("You are agent %s of team %s (role %s). teamName may be left out.", c.Name, c.Caller.Team, c.Role)
	case c.Person:
		return "You act for a person, who has the leader's right in every team."
	case len(c.Leads) == 1:
		return fmt.Sprintf("You lead team %s, from worker %s. teamName may be left out.", c.Leads[0], safetext.Line(c.Worker))
	case len(c.Leads) > 1:
		return fmt.Sprintf("You lead the teams %s, from worker %s.", strings.Join(c.Leads, ", "), safetext.Line(c.Worker))
	case c.Worker != "":
		return fmt.Sprintf("You run in worker %s, and are not an agent of a team.", safetext.Line(c.Worker))
	default:
		return "You run in a worker that this swarm does not know, and you are not an agent of a team."
	}
}
