package dash

import (
	"context"
	"slices"
	"time"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Rescues are the work that was saved from removed workspaces. [host.Host.Saved] returns them.
type Rescues interface {
	List(ctx context.Context, also ...string) ([]swarm.SavedWork, []string, error)
}

const savedLimit = 20 * time.Second

// SavedOf returns the work that was saved from the workspaces of a worker, as a fact with one
// line for each piece, the newest first. Each line ends with the command that brings the work
// back. If no work was saved, the fact has no lines. SavedOf looks in all known repositories.
func SavedOf(ctx context.Context, r Rescues, name string, now time.Time) (Fact, error) {
	ctx, cancel := context.WithTimeout(ctx, savedLimit)
	defer cancel()
	all, _, err := r.List(ctx)
	if err != nil {
		return Fact{}, err
	}
	all = slices.DeleteFunc(all, func(w swarm.SavedWork) bool { return w.Name != name })
	f := Fact{Label: "Saved work"}
	for _, w := range slices.Backward(all) {
		id := w.Ref
		if len(all) == 1 {
			id = name
		}
		f.Lines = append(f.Lines, savedLine(w, id, now))
	}
	return f, nil
}

// savedLine says what a piece of saved work is, since when, and which command brings back the
// work of that id.
func savedLine(w swarm.SavedWork, id string, now time.Time) string {
	text := w.Title
	if !w.Time.IsZero() {
		text += ", " + humane.Age(now.Sub(w.Time)) + " ago"
	}
	return safetext.Line(text + ": swarm " + humane.Command([]string{"rescue", "restore", id}))
}
