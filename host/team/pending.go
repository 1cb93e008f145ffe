package team

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// Pending counts the waiting messages and tasks of a member of a team.
type Pending struct {
	registry.Membership
	registry.Unread
	// Named says that the member has to name the team in its calls, since it belongs to
	// several.
	Named bool
}

// PendingOf returns what waits for the members in a worker: nothing, if the worker is not a
// member of a team.
func PendingOf(ctx context.Context, tx *registry.Tx, workerID string) (pending []Pending, err error) {
	all, named, err := Memberships(ctx, tx, workerID)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		w, err := tx.CountWaiting(ctx, m.Team, m.Member)
		if err != nil {
			return nil, err
		}
		if !w.Nothing() {
			pending = append(pending, Pending{Membership: m, Unread: w, Named: named(m.Team)})
		}
	}
	return pending, nil
}

// Line returns one line for an agent about its waiting messages and tasks and how to get
// them, or "". It holds counts and fixed words, and no text of another member, since it is
// typed at the agent's prompt. The name of a team is one that [CheckName] has passed.
func Line(pending []Pending) string {
	var parts []string
	for _, n := range pending {
		parts = append(parts, n.line())
	}
	return strings.Join(parts, " ")
}

func (n *Pending) line() string {
	in, flag := "", ""
	if n.Named {
		in, flag = " in team "+n.Team, " --team "+n.Team
	}
	var what, tools, commands []string
	if n.Messages > 0 {
		what = append(what, count(n.Messages, "new message"))
		tools, commands = append(tools, "read-messages"), append(commands, "'swarm inbox read"+flag+"'")
	}
	if n.Tasks > 0 {
		what = append(what, count(n.Tasks, "new task"))
		tools, commands = append(tools, "task-list"), append(commands, "'swarm task ls"+flag+"'")
	}
	tool := "tool"
	if len(tools) > 1 {
		tool = "tools"
	}
	line := fmt.Sprintf("swarm: %s for you%s. Use the %s %s, or run %s.",
		strings.Join(what, " and "), in, tool, strings.Join(tools, " and "), strings.Join(commands, " and "))
	if n.Shutdown {
		line += fmt.Sprintf(" You are asked to shut down: answer with the tool respond-shutdown, or run 'swarm shutdown approve%[1]s' or 'swarm shutdown reject%[1]s REASON'.", flag)
	}
	return line
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Deliver records that pending items were delivered.
func Deliver(ctx context.Context, tx *registry.Tx, pending []Pending, how registry.Delivery) error {
	for _, n := range pending {
		if err := tx.Bring(ctx, n.Membership, how, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// MayWake reports whether the members in a worker have waiting messages or tasks that are
// not quiet.
func MayWake(ctx context.Context, tx *registry.Tx, workerID string) (bool, error) {
	all, _, err := Memberships(ctx, tx, workerID)
	if err != nil {
		return false, err
	}
	for _, m := range all {
		members, err := tx.ToWake(ctx, m.Team)
		if err != nil || slices.Contains(members, m.Member) {
			return err == nil, err
		}
	}
	return false, nil
}
