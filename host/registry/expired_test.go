package registry

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestExpired(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	now := time.Unix(1800000000, 0)
	ago := func(d time.Duration) *swarm.Exit { return &swarm.Exit{Time: now.Add(-d)} }
	var recs []Record
	add := func(name, retain string, state State, exit *swarm.Exit) {
		rec := bare(name)
		rec.Retain, rec.State, rec.Exit = retain, state, exit
		recs = append(recs, rec)
	}
	add("kept", RetainUntilClean, Stopped, ago(time.Hour))
	add("old", "", Stopped, ago(time.Hour))
	add("ephemeral", RetainNone, Stopped, ago(time.Hour))
	add("runs", "1s", Running, nil)
	add("just", "1m0s", Stopped, ago(time.Minute))
	add("over", "1m0s", Stopped, ago(time.Hour))
	add("soon", "1m0s", Stopped, ago(20*time.Second))
	add("later", "1m0s", Stopped, ago(time.Second))
	add("first", "1h0m0s", Stopped, ago(time.Hour-30*time.Second))
	add("lost", "1h0m0s", Stopped, nil)
	add("ages", "876000h0m0s", Stopped, ago(time.Hour))
	add("nonsense", "x", Stopped, ago(time.Hour))
	insert(t, r, recs...)
	for _, c := range []struct {
		now  time.Time
		want []string
		next time.Duration
	}{
		{now, []string{"lost", "just", "over"}, 30 * time.Second},
		{now.Add(-time.Hour), []string{"lost"}, 0},
		{now.Add(35 * time.Second), []string{"first", "lost", "just", "over"}, 5 * time.Second},
	} {
		got, next, err := r.Expired(t.Context(), c.now)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, rec := range got {
			names = append(names, rec.Name)
		}
		slices.Sort(names)
		slices.Sort(c.want)
		if !slices.Equal(names, c.want) {
			t.Errorf("at %v: %q, want %q", c.now, names, c.want)
		}
		if c.next != 0 && next.Sub(c.now) != c.next {
			t.Errorf("at %v the next is due in %v, want %v", c.now, next.Sub(c.now), c.next)
		}
	}
	_, next, err := openTest(t, t.TempDir()).Expired(t.Context(), now)
	if err != nil || !next.IsZero() {
		t.Error(fmt.Sprint(next), err)
	}
}
