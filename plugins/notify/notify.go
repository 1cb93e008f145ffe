package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/notice"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Version is the version of the plugin.
const Version = "0.1.0"

// Config is the plugin's own table of settings. Anyone who knows the address of a topic or of a webhook
// can use it, so they are secrets.
type Config struct {
	Ntfy      string `json:"ntfy" secret:"true" help:"The address of a topic of an ntfy server, such as \"https://ntfy.sh/TOPIC\"."`
	NtfyToken string `json:"ntfy_token" secret:"true" help:"An access token of that server."`
	Slack     string `json:"slack" secret:"true" help:"The address of an incoming webhook of Slack, or of a server that takes the same JSON."`
	Desktop   bool   `json:"desktop" default:"false" help:"Whether notify-send shows events on the desktop."`
}

// old is the age from which on an event is delivered with its time.
const old = 5 * time.Minute

// Notifier implements [swarm.Notifier].
type Notifier struct {
	targets []target
	log     *slog.Logger

	mu sync.Mutex
	// event is the id of the event that is to be delivered again; taken are the targets that
	// have taken or refused it, with the reasons of those that refused it.
	event string
	taken map[string]string
}

// target is one place for events.
type target struct {
	name string
	// deliver delivers a message. Its error is a [refusal] if that can never succeed.
	deliver func(ctx context.Context, m message) error
}

// message is an event as people read it. Its texts hold no control characters; the title is one line.
type message struct{ title, body string }

// refusal is the error of a target that will never take a message.
type refusal struct{ error }

// delay is the error of a target that takes the message at a time.
type delay struct {
	error
	until time.Time
}

// New returns a notifier with the targets of the settings.
func New(c Config, log *slog.Logger) (*Notifier, error) {
	n := &Notifier{log: log}
	if c.NtfyToken != "" && c.Ntfy == "" {
		return nil, fmt.Errorf("%w: ntfy_token: it is for the server of ntfy, which is not set", swarm.ErrInvalidConfig)
	}
	if c.Ntfy != "" {
		address, err := parse("ntfy", c.Ntfy)
		if err != nil {
			return nil, err
		}
		t, err := ntfy(address, c.NtfyToken)
		if err != nil {
			return nil, err
		}
		n.targets = append(n.targets, t)
	}
	if c.Slack != "" {
		address, err := parse("slack", c.Slack)
		if err != nil {
			return nil, err
		}
		n.targets = append(n.targets, slack(address))
	}
	if c.Desktop {
		n.targets = append(n.targets, target{"desktop", desktop})
	}
	return n, nil
}

// parse reads an address. The error does not show it.
func parse(setting, address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("%w: %s: expected an address such as \"https://example.com/path\"", swarm.ErrInvalidConfig, setting)
	}
	return u, nil
}

// Check implements [swarm.Checker].
func (n *Notifier) Check(context.Context) error {
	for _, t := range n.targets {
		if t.name != "desktop" {
			continue
		}
		if _, err := exec.LookPath("notify-send"); err != nil {
			return fmt.Errorf("%w: notify-send is not installed, which the setting 'desktop' needs", swarm.ErrUnavailable)
		}
	}
	return nil
}

// Report implements [swarm.Reporter].
func (n *Notifier) Report(context.Context) (string, error) {
	names := make([]string, len(n.targets))
	for i, t := range n.targets {
		names[i] = t.name
	}
	return strings.Join(names, ", "), nil
}

// Notify implements [swarm.Notifier].
func (n *Notifier) Notify(ctx context.Context, e swarm.Event) (swarm.NotifyAnswer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.targets) == 0 {
		return swarm.NotifyAnswer{Outcome: swarm.NotifyLater, Reason: "its settings name no target: set ntfy, slack or desktop in [plugins.notify.config]"}, nil
	}
	if n.event != e.ID {
		n.event, n.taken = e.ID, map[string]string{}
	}
	m := messageOf(e, time.Now())
	var late []string
	var again time.Time
	for _, t := range n.targets {
		if _, done := n.taken[t.name]; done {
			continue
		}
		err := t.deliver(ctx, m)
		if err == nil {
			n.taken[t.name] = ""
			continue
		}
		reason := t.name + ": " + safetext.Line(err.Error())
		if _, never := errors.AsType[refusal](err); never {
			n.taken[t.name] = reason
			continue
		}
		n.log.Debug("a target can't be reached", "target", t.name, "error", reason)
		late = append(late, reason)
		if d, ok := errors.AsType[delay](err); ok && d.until.After(again) {
			again = d.until
		}
	}
	if len(late) > 0 {
		return swarm.NotifyAnswer{Outcome: swarm.NotifyLater, Again: again, Reason: strings.Join(late, "; ")}, nil
	}
	answer := swarm.NotifyAnswer{Outcome: swarm.NotifyNever}
	var refused []string
	for _, t := range n.targets {
		if reason := n.taken[t.name]; reason != "" {
			refused = append(refused, reason)
		} else {
			answer.Outcome = swarm.NotifyAccepted
		}
	}
	answer.Reason = strings.Join(refused, "; ")
	n.event, n.taken = "", nil // if it comes once more, the host has not recorded the answer
	return answer, nil
}

// messageOf words an event.
func messageOf(e swarm.Event, now time.Time) message {
	m := message{title: notice.Clean(e.Worker + " " + cmp.Or(notice.Says(e.On), strings.ToLower(e.Kind))), body: notice.Clean(e.Text)}
	if now.Sub(e.Time) > old {
		m.body = strings.TrimSpace(m.body + "\n(" + e.Time.Local().Format("2006-01-02 15:04 MST") + ")")
	}
	return m
}
