// Package notify writes the notices for a person, on the desktop and on the terminal, about
// workers that need them.
package notify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hooks"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/notice"
)

// Notice is one notification. Its texts hold no control characters; the title is one line.
type Notice struct{ Title, Body string }

const (
	// most is how many events are shown one by one.
	most = 3
	// together is how long further events are waited for after one, so that the end of
	// many workers is one notice.
	together = 500 * time.Millisecond
	// showLimit is how long a program that shows a notice may run.
	showLimit = 10 * time.Second
)

// Of returns the notice for events; ok is false if none of them needs a person.
func Of(events []registry.Event) (n Notice, ok bool) {
	var subjects, lines []string
	looped := map[string]bool{}
	for _, e := range events {
		if e.Kind == history.CrashLoop {
			looped[e.ID] = true
		}
		words := hooks.Words(e)
		says := notice.Says(words)
		if says == "" || looped[e.ID] && slices.Contains(words, hooks.Failed) { // the crash loop says it
			continue
		}
		subject := notice.Clean(e.Worker + " " + says)
		subjects = append(subjects, subject)
		line := subject
		if e.Text != "" {
			line += ": " + notice.Clean(e.Text)
		}
		lines = append(lines, line)
		n = Notice{Title: subject, Body: notice.Clean(e.Text)}
	}
	switch {
	case len(lines) == 0:
		return Notice{}, false
	case len(lines) == 1:
		return n, true
	case len(lines) > most:
		lines = append(lines[:most], fmt.Sprintf("and %d more", len(lines)-most))
	}
	return Notice{Title: fmt.Sprintf("%d workers need you", len(subjects)), Body: strings.Join(lines, "\n")}, true
}

// Terminal returns the bytes that show a notice on a terminal: its own notification (OSC 9),
// which terminals that know none ignore, and the bell. inTmux says that a tmux is in
// between, which passes the bell, and the notification if that is wanted.
func (n Notice) Terminal(inTmux bool) string {
	text := "swarm: " + n.Title
	if n.Body != "" {
		text += ": " + strings.ReplaceAll(n.Body, "\n", "; ")
	}
	osc := "\x1b]9;" + text + "\a"
	if inTmux {
		osc = "\x1bPtmux;" + strings.ReplaceAll(osc, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return osc + "\a"
}

// HasDesktop reports whether notify-send is installed and there is a session that shows what
// it sends.
func HasDesktop(env []string) bool {
	if environ.Get(env, "DBUS_SESSION_BUS_ADDRESS") == "" {
		bus := filepath.Join(environ.Get(env, "XDG_RUNTIME_DIR"), "bus")
		if _, err := os.Stat(bus); err != nil || !filepath.IsAbs(bus) {
			return false
		}
	}
	for _, dir := range filepath.SplitList(environ.Get(env, "PATH")) {
		if info, err := os.Stat(filepath.Join(dir, "notify-send")); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// Desktop returns the call that shows a notice on the desktop.
func (n Notice) Desktop() hooks.Call {
	return hooks.Call{Command: notice.Desktop(n.Title, n.Body), Dir: "/", Timeout: showLimit}
}

// Gather shows the notices for the events that come from a channel until ctx ends. Events
// that come together make one notice.
func Gather(ctx context.Context, events <-chan registry.Event, show func(context.Context, Notice)) {
	for {
		var batch []registry.Event
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			batch = append(batch, e)
		}
		if _, ok := Of(batch); !ok {
			continue
		}
		more := time.After(together)
		for over := false; !over; {
			select {
			case <-ctx.Done():
				over = true
			case e := <-events:
				batch = append(batch, e)
			case <-more:
				over = true
			}
		}
		if n, ok := Of(batch); ok {
			show(ctx, n)
		}
	}
}
