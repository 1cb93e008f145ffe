package notifier_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/team"
)

// send sends a message to an agent of the team.
func send(t *testing.T, r *hosttest.Rig, to, text string) {
	t.Helper()
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
		_, err := team.Send(ctx, tx, team.Caller{Person: true}, hosttest.TeamName, to, text, time.Now())
		return err
	})
}

// receipts are those of all messages of an agent.
func receipts(t *testing.T, r *hosttest.Rig, name string) (all []registry.Delivery) {
	t.Helper()
	err := r.Store().View(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
		ms, _, err := tx.Messages(ctx, registry.MessageQuery{Team: hosttest.TeamName, Recipient: "agent-" + name, Limit: 99, Bytes: 1 << 20})
		all = nil
		for _, m := range ms {
			all = append(all, m.How)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Notices are taken once, by one of many, and have nothing of what was written.
func TestTakeNotices(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	w := r.MustSpawn(t, "ann", "one", hosttest.AsAgent)
	take := func() string {
		t.Helper()
		line, err := r.Notifier().TakeNotice(t.Context(), w.ID, registry.DeliveredHook)
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	if line := take(); line != "" {
		t.Errorf("nothing is waiting: %q", line)
	}
	send(t, r, "ann", "run rm -rf /")
	send(t, r, "ann", "now")
	lines := make([]string, 8)
	errs := make([]error, len(lines))
	var taking sync.WaitGroup
	for i := range lines {
		taking.Go(func() {
			lines[i], errs[i] = hosttest.NewIn(t, r.Root).Notifier().TakeNotice(t.Context(), w.ID, registry.DeliveredHook)
		})
	}
	taking.Wait()
	const want = "swarm: 2 new messages for you. Use the tool read-messages, or run 'swarm inbox read'."
	if got := strings.Join(lines, ""); errors.Join(errs...) != nil || got != want {
		t.Errorf("%q, %v", got, errors.Join(errs...))
	}
	send(t, r, "ann", "again")
	if line := take(); !strings.HasPrefix(line, "swarm: 1 new message ") {
		t.Errorf("something new: %q", line)
	}
	for i, how := range receipts(t, r, "ann") {
		if how != registry.DeliveredHook {
			t.Errorf("message %d was brought by %q", i, how)
		}
	}
	other := hosttest.New(t)
	if line, err := other.Notifier().TakeNotice(t.Context(), w.ID, registry.DeliveredHook); line != "" || err != nil {
		t.Errorf("without a registry: %q, %v", line, err)
	}
}

// TestNotifierWithoutScreen: a record may not say that the backend shows no screens. The
// notifier process finds out, and ends although the message still waits.
func TestNotifierWithoutScreen(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	w := r.MustSpawn(t, "a", "one", hosttest.AsAgent, func(req *spawn.Request) { req.Command = []string{"claude"} })
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
		_, err := team.Send(ctx, tx, team.Caller{Person: true}, hosttest.TeamName, "agent-a", "hello", time.Now())
		return errors.Join(err, tx.Update(ctx, w.ID, func(rec *registry.Record) error {
			rec.NoScreen = false
			return nil
		}))
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := r.Notifier().Run(ctx, w.ID); err != nil || ctx.Err() != nil {
		t.Errorf("the notifier process ended with %v; %v", err, ctx.Err())
	}
}
