package inbox

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/humane"
)

func TestMessageText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, body, want string }{
		{"plain", "a\nb", "a\nb"},
		{"plain", `{"reason":"x"}`, `{"reason":"x"}`},
		{"system", "Agent a became inactive", "Agent a became inactive"},
		{messageShutdown, `{"reason":"done"}`, "asks you to shut down: done\nanswer with 'swarm shutdown approve' or 'swarm shutdown reject REASON'"},
		{messageShutdown, `{}`, "asks you to shut down\nanswer with 'swarm shutdown approve' or 'swarm shutdown reject REASON'"},
		{messageShutdown, `not JSON`, "not JSON"},
		{messageAnswered, `{"approved":true,"phase":"confirmed"}`, "approved the shutdown and has ended"},
		{messageAnswered, `{"approved":true,"phase":"approved"}`, "approved the shutdown and continues until it is ready"},
		{messageAnswered, `{"approved":false,"phase":"rejected","responseReason":"busy"}`, "rejected the shutdown: busy"},
	} {
		if got := messageText(tool.Message{Type: c.kind, Message: c.body}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.body, got, c.want)
		}
	}
}

// A message of an agent can't control the terminal or fake the lines of other messages.
func TestPrintMessages(t *testing.T) {
	t.Parallel()
	a, stdout, stderr := apptest.New()
	out := tool.ReadMessagesOutput{Remaining: 3, Messages: []tool.Message{
		{ID: "1", From: "agent-a1b2c3", Type: "plain", Message: "one\r\n\x1b[31mtwo\n\n", Timestamp: humane.Timestamp{Time: time.Now()}},
		{ID: "2", From: "agent-a1b2c3", Type: "plain", Message: "", Timestamp: humane.Timestamp{Time: time.Now().Add(-time.Hour)}, Read: true},
	}}
	printMessages(a, out, func(id string) string { return map[string]string{"agent-a1b2c3": "alice"}[id] })
	const want = "1 alice (0s ago)\n  one\n  \\x1b[31mtwo\n\n2 alice (1h ago, read before)\n"
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if got := stderr.String(); got != "swarm: 3 more: run it again\n" {
		t.Errorf("hint %q", got)
	}
}
