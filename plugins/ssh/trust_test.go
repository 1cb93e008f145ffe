package ssh

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestListedOptions takes the options of a worker from a host that says more than it should.
func TestListedOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ far, want map[string]string }{
		{nil, map[string]string{"host": "dev"}},
		{map[string]string{"env": "MY_SECRET", "host": "other", "owner": "x", "more": "y"}, map[string]string{"host": "dev"}},
		{map[string]string{"tty": "true"}, map[string]string{"host": "dev", "tty": "true"}},
		{map[string]string{"tty": "$(it)"}, map[string]string{"host": "dev"}},
	} {
		if diff := cmp.Diff(test.want, listedOptions("dev", test.far)); diff != "" {
			t.Errorf("of %v: %s", test.far, diff)
		}
	}
}

// TestMadeOn takes references of worktrees from hosts that name another machine.
func TestMadeOn(t *testing.T) {
	t.Parallel()
	here := remote.Origin{Machine: "m", Store: "s"}
	ref := swarm.WorkspaceRef{Path: "/w", Host: "other", Handle: swarm.Handle{Version: 1, Data: []byte(`{"machine":"m","store":"s"}`)}}
	if got, err := madeOn("dev", here, ref, nil); err != nil || got.Host != "dev" || got.Path != "/w" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, data := range []string{"", "{}", `{"machine":"m"}`, `{"machine":"m2","store":"s"}`} {
		ref.Handle.Data = []byte(data)
		if got, err := madeOn("dev", here, ref, nil); !errors.Is(err, swarm.ErrUnavailable) {
			t.Errorf("data %q: %+v, %v", data, got, err)
		}
	}
	ref.Handle.Data = []byte("{}")
	if got, err := madeOn("dev", remote.Origin{}, ref, nil); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("without any origin: %+v, %v", got, err)
	}
	if _, err := madeOn("dev", here, swarm.WorkspaceRef{}, swarm.ErrNotFound); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("after an error: %v", err)
	}
}

// TestSavedSince leaves out the saved work of earlier workers of a name, and of others.
func TestSavedSince(t *testing.T) {
	t.Parallel()
	before := []swarm.SavedWork{{Ref: "w/1", Name: "w"}, {Ref: "v/1", Name: "v"}}
	now := append(before, swarm.SavedWork{Ref: "w/2", Name: "w"}, swarm.SavedWork{Ref: "v/2", Name: "v"}) //nolint:gocritic // both are needed
	if diff := cmp.Diff([]swarm.Rescue{{Ref: "w/2"}}, savedSince(before, now, "w")); diff != "" {
		t.Error(diff)
	}
	if got := savedSince(now, now, "w"); len(got) > 0 {
		t.Errorf("nothing was saved, and there is %v", got)
	}
}
