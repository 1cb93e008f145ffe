//go:build agents

package main_test

import (
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// testAgentWake sends messages to an agent of a team: idle, it is notified at once; while it
// works, once it is idle again, by one line for both.
func testAgentWake(t *testing.T, l *lab) {
	l.swarm("team", "create", "x")
	all := append([]string{"agent", "spawn", "--team", "x", "--name", "w", "--"}, l.client.command...)
	l.swarm(all...)
	until := func(state string) {
		t.Helper()
		l.swarm("wait", "x-w", "--until", state, "--timeout", agentWait.String())
	}
	until("idle")
	const first = "swarm: 1 new message for you. Use the tool read-messages, or run 'swarm inbox read'."
	hold := make(chan struct{})
	l.model.Script(modelserver.Turn{Text: "I have read it.", Hold: hold})
	l.swarm("inbox", "send", "w", "!touch pwned", "--team", "x")
	l.prompted(first)
	until("working")
	l.swarm("inbox", "send", "w", "second", "--team", "x")
	l.swarm("inbox", "send", "w", "third", "--team", "x")
	close(hold)
	const next = "swarm: 2 new messages for you. Use the tool read-messages, or run 'swarm inbox read'."
	l.prompted(next)
	until("idle")
	l.once(first)
	l.once(next)
	if !l.poll(func() bool {
		return len(l.world.processes(func(p process) bool { return strings.Contains(p.command, "swarm notifier ") })) == 0
	}) {
		t.Error("the notifier stays")
	}
	if sent := l.swarm("inbox", "sent", "--team", "x"); strings.Count(sent, " nudge ") != 3 {
		t.Errorf("the receipts:\n%s", sent)
	}
	l.swarm("kill", "x-w", "--timeout", "5s")
}
