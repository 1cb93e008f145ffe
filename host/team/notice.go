package team

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// Stop is why an agent does not continue by itself.
type Stop string

// The stops that are reported to the leader of an agent's team. The end of an agent is always
// reported, see [Lost].
const (
	// StopBlocked means that the agent asks something.
	StopBlocked Stop = "blocked"
	// StopIdle means that its turn has ended.
	StopIdle Stop = "idle"
	// StopLimited means that it has reached a limit of its usage.
	StopLimited Stop = "limited"
	// StopBroken means that it shows an error, or has to be signed in.
	StopBroken Stop = "broken"
)

func Stops() []string {
	return []string{string(StopBlocked), string(StopIdle), string(StopLimited), string(StopBroken)}
}

// Notice is a report to the leader of a team about one of its agents.
type Notice struct {
	// WorkerID and Worker are the id and the name of the agent's worker.
	WorkerID, Worker string
	Stop             Stop
	// Since is when the agent stopped; zero: a moment ago.
	Since time.Time
	// Question is what a blocked agent asks, Command what it wants to run, and Choices its
	// choices, as far as they are known.
	Question, Command string
	Choices           []string
	// Digest identifies the question; empty if that is not known.
	Digest string
	// Reason is why a limited or broken agent stopped.
	Reason string
}

// noticesRead is how many of the latest reports of a team are read to find the last one about
// an agent.
const noticesRead = 200

// maxQuoted bounds each text of an agent in a notice.
const maxQuoted = 16 << 10

// Notify puts a notice into the inbox of the leader of the agent's team, and returns the name
// of the team; the name is empty if no notice is due.
func Notify(ctx context.Context, tx *registry.Tx, n Notice, now time.Time) (teamName string, err error) {
	m, due, err := NoticeDue(ctx, tx, n, now)
	if err != nil || !due {
		return "", err
	}
	return m.Team, tx.AddMessage(ctx, &m)
}

// NoticeDue returns the message that [Notify] would send. It changes nothing. No notice is due
// if the worker is not an agent or leads the team itself, if the leader was notified of the agent
// after it stopped, or if the same notice is still unread.
func NoticeDue(ctx context.Context, tx *registry.Tx, n Notice, now time.Time) (m registry.Message, due bool, err error) {
	if n.WorkerID == "" {
		return m, false, nil
	}
	agents, _, err := tx.Agents(ctx, registry.AgentQuery{WorkerID: n.WorkerID, Live: true})
	if err != nil || len(agents) == 0 {
		return m, false, err
	}
	a := &agents[0]
	t, err := Get(ctx, tx, a.Team)
	if err != nil || a.Status == registry.AgentShuttingDown || a.Role == registry.RoleLeader || t.LeaderWorker == n.WorkerID {
		return m, false, err
	}
	m = registry.Message{
		Team: a.Team, Sender: system, Recipient: Leader, Type: registry.MessageSystem, Time: now, Body: n.text(a),
	}
	sent, err := tx.Sent(ctx, registry.Membership{Team: a.Team, Member: system}, noticesRead)
	if err != nil {
		return m, false, err
	}
	for _, last := range slices.Backward(sent) {
		if !strings.HasPrefix(last.Body, about(a)) || last.Recipient != Leader {
			continue
		}
		if !n.Since.IsZero() && !last.Time.Before(n.Since) || last.Read.IsZero() && last.Body == m.Body {
			return m, false, nil
		}
		break
	}
	return m, true, nil
}

// about is the beginning of each notice about an agent.
func about(a *registry.Agent) string { return fmt.Sprintf("Agent %s (%s) ", a.Name, a.ID) }

// text returns the text of a notice. The agent's own texts are marked as quotations.
func (n *Notice) text(a *registry.Agent) string {
	var b strings.Builder
	b.WriteString(about(a))
	switch n.Stop {
	case StopBlocked:
		b.WriteString("asks, and waits for an answer:\n")
		quote(&b, n.Question)
		if !strings.Contains(n.Question, n.Command) {
			quote(&b, n.Command)
		}
		quote(&b, strings.Join(n.Choices, "\n"))
		answer, digest := "swarm answer "+n.Worker+" CHOICE", ""
		if n.Digest != "" {
			digest = " --digest " + n.Digest
		}
		fmt.Fprintf(&b, "Answer with '%s%s', or the tool worker-answer. You may do that where the person has set team.answers = \"leader\"; otherwise a person answers.", answer, digest)
	case StopIdle:
		fmt.Fprintf(&b, "has ended its turn and waits at its prompt. The tool peek-agent, or 'swarm peek %s', shows its screen.", n.Worker)
	case StopLimited:
		b.WriteString("has reached a limit of its usage, and has stopped:\n")
		quote(&b, n.Reason)
	case StopBroken:
		b.WriteString("has stopped with an error:\n")
		quote(&b, n.Reason)
	}
	return strings.TrimRight(clean(b.String()), "\n")
}

func quote(b *strings.Builder, text string) {
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	for line := range strings.Lines(text) {
		b.WriteString("> " + strings.TrimRight(line, "\r\n") + "\n")
	}
}
