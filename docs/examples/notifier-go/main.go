// Command swarm-plugin-journal writes a line into a file for each event of workers. Make it your
// own: where events go is Notify.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// notifier implements [swarm.Notifier]. Its fields are the table [plugins.journal.config] of the
// user's config. It remembers nothing else: each call may come to another process.
type notifier struct {
	File string `json:"file" help:"The file that gets a line for each event."`
}

// Notify is called for one event after the other, in their order. An event may come twice, with
// the same ID: if swarm is killed before it has recorded the answer.
func (n *notifier) Notify(_ context.Context, e swarm.Event) (swarm.NotifyAnswer, error) {
	file, err := os.OpenFile(n.File, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		// Later: the event comes again, and no other one before it. A server that refuses the
		// event for good would be NotifyNever: the event is dropped, and the user reads why.
		return swarm.NotifyAnswer{Outcome: swarm.NotifyLater, Reason: err.Error()}, nil
	}
	defer file.Close()
	// The worker may have written the text: it is quoted, so that it is one line.
	_, err = fmt.Fprintf(file, "%s %s %s %s %q\n", e.Time.Format(time.RFC3339), e.ID, e.Worker, e.Kind, e.Text)
	if err != nil {
		return swarm.NotifyAnswer{Outcome: swarm.NotifyLater, Reason: err.Error()}, nil
	}
	return swarm.NotifyAnswer{Outcome: swarm.NotifyAccepted}, nil
}

// version is that of the plugin; package.sh sets the one of a release.
var version = "0.1.0"

func main() {
	plugin.Serve(plugin.Options{
		Name:     "journal",
		Version:  version,
		Settings: plugin.SchemaOf[notifier](),
		Notifier: func(_ context.Context, env plugin.Env) (swarm.Notifier, error) {
			n := &notifier{File: os.Getenv("HOME") + "/.journal"}
			return n, env.Config.Decode(n)
		},
	})
}
