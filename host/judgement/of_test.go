package judgement_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// profileWith returns a profile whose rules have these states.
func profileWith(t *testing.T, states ...profile.State) *profile.Profile {
	t.Helper()
	text := "[match]\nprograms = [\"x\"]\n"
	for _, s := range states {
		text += "[[rules]]\nname = \"" + string(s) + "\"\nstate = \"" + string(s) + "\"\nall = ['x']\n"
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "test.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := profile.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return set.Named("test")
}

func shows(s profile.State) *profile.Look {
	l := &profile.Look{State: s}
	if s != profile.Unknown {
		l.Rule, l.Evidence = "rule-of-"+string(s), "the line of "+string(s)
	}
	return l
}

func limited(l *profile.Look) *profile.Look { l.Limit = "limit reached"; return l }

func broken(l *profile.Look) *profile.Look { l.Broken = "Please run /login"; return l }

// reports returns a report of hooks that came so long ago.
func reports(state string, ago time.Duration) *hookstate.Claim {
	c := &hookstate.Claim{State: state, Since: now.Add(-ago), At: now.Add(-ago)}
	switch state {
	case hookstate.Limited, hookstate.Broken, hookstate.Background:
		c.Reason = "reason of hooks"
	case hookstate.Blocked:
		c.Question = "May I?"
	}
	return c
}

// TestStates judges every state of a screen with every state that hooks report, for a screen
// that has just changed and for one that has not for long.
func TestStates(t *testing.T) {
	t.Parallel()
	p := profileWith(t, profile.Idle, profile.Background)
	const fresh, old = 0, time.Hour
	screens := []struct {
		name string
		look *profile.Look
	}{
		{"unknown", shows(profile.Unknown)},
		{"unknown with an error", broken(shows(profile.Unknown))},
		{"idle", shows(profile.Idle)},
		{"idle with an error", broken(shows(profile.Idle))},
		{"idle with a limit", limited(shows(profile.Idle))},
		{"background", shows(profile.Background)},
		{"background with a limit", limited(shows(profile.Background))},
		{"working", shows(profile.Working)},
		{"working with an error", broken(shows(profile.Working))},
		{"compacting", shows(profile.Compacting)},
		{"blocked", shows(profile.Blocked)},
		{"blocked with a limit", limited(shows(profile.Blocked))},
	}
	// For each state of hooks, the state and the first letter of the source, fresh and old.
	want := map[string]string{
		"unknown":                 " unknown working+h idle+h blocked+h background+h compacting+h limited+h broken+h",
		"unknown with an error":   " broken+s working+h broken+s blocked+h background+h compacting+h limited+h broken+h",
		"idle":                    " idle+s working+h,idle+s idle+h blocked+h,idle+s background+h,idle+s compacting+h,idle+s limited+h broken+h",
		"idle with an error":      " broken+s working+h,broken+s broken+s blocked+h,broken+s background+h,broken+s compacting+h,broken+s limited+h broken+h",
		"idle with a limit":       " limited+s working+h,limited+s limited+s blocked+h,limited+s background+h,limited+s compacting+h,limited+s limited+s limited+s",
		"background":              " background+s working+h,background+s background+s blocked+h,background+s background+h compacting+h,background+s limited+h broken+h",
		"background with a limit": " limited+s working+h,limited+s limited+s blocked+h,limited+s background+h compacting+h,limited+s limited+s limited+s",
		"working":                 " working+s working+h working+s working+s working+s compacting+h working+s working+s",
		"working with an error":   " working+s working+h working+s working+s working+s compacting+h working+s working+s",
		"compacting":              " compacting+s compacting+s compacting+s compacting+s compacting+s compacting+h compacting+s compacting+s",
		"blocked":                 " blocked+s blocked+s blocked+s blocked+s blocked+s blocked+s blocked+s blocked+s",
		"blocked with a limit":    " blocked+s blocked+s blocked+s blocked+s blocked+s blocked+s blocked+s blocked+s",
	}
	hooks := append([]string{""}, hookstate.States()...)
	for _, screen := range screens {
		row := strings.Split(strings.TrimSpace(want[screen.name]), " ")
		if len(row) != len(hooks) {
			t.Fatalf("%s: %d states, want %d", screen.name, len(row), len(hooks))
		}
		for i, said := range hooks {
			freshly, later, differs := strings.Cut(row[i], ",")
			if !differs {
				later = freshly
			}
			for age, want := range map[time.Duration]string{fresh: freshly, old: later} {
				e := judgement.Evidence{Profile: p, Now: now, Look: screen.look, Unchanged: now.Add(-age)}
				if said != "" {
					e.Hook = reports(said, age)
				}
				s, again := judgement.Of(e)
				got := string(s.State)
				if s.Source != "" {
					got += "+" + s.Source[:1]
				}
				if got != want {
					t.Errorf("screen %s, hooks %q, for %v: %s, want %s", screen.name, said, age, got, want)
				}
				if s.Origins.State.Why == "" || s.Origins.State.Source != s.Source {
					t.Errorf("screen %s, hooks %q, for %v: the origin is %+v", screen.name, said, age, s.Origins.State)
				}
				if changes := differs && age == fresh; changes != (again > 0) {
					t.Errorf("screen %s, hooks %q, for %v: again after %v", screen.name, said, age, again)
				} else if changes {
					e.Now = e.Now.Add(again)
					s, _ := judgement.Of(e)
					if !strings.HasPrefix(later, string(s.State)+"+") {
						t.Errorf("screen %s, hooks %q: %s after %v, want %s", screen.name, said, s.State, again, later)
					}
				}
			}
		}
	}
}

func TestReasonAndSince(t *testing.T) {
	t.Parallel()
	minute := now.Add(-time.Minute)
	p := profileWith(t, profile.Idle)
	for _, tt := range []struct {
		name          string
		look          *profile.Look
		hook          *hookstate.Claim
		since         time.Time
		reason, from  string
		sinceFromHook bool
	}{
		{"idle by the screen", shows(profile.Idle), nil, minute, "", "", false},
		{"idle by both", shows(profile.Idle), reports(hookstate.Idle, time.Hour), now.Add(-time.Hour), "", "", true},
		{"an error, and the end of the turn", broken(shows(profile.Idle)), reports(hookstate.Idle, time.Hour), now.Add(-time.Hour), "Please run /login", "screen", true},
		{"an error by hooks alone", shows(profile.Idle), reports(hookstate.Broken, time.Hour), now.Add(-time.Hour), "reason of hooks", "hook", true},
		{"a limit that the screen alone names", limited(shows(profile.Idle)), reports(hookstate.Broken, time.Hour), minute, "limit reached", "screen", false},
		{"a limit that hooks alone name", broken(shows(profile.Idle)), reports(hookstate.Limited, time.Hour), now.Add(-time.Hour), "reason of hooks", "hook", true},
		{"background work by the screen", shows(profile.Background), nil, time.Time{}, "the line of background", "screen", false},
		{"background work by both", shows(profile.Background), reports(hookstate.Background, time.Hour), now.Add(-time.Hour), "reason of hooks", "hook", true},
		{"work", shows(profile.Working), nil, time.Time{}, "", "", false},
		{"work by both", shows(profile.Working), reports(hookstate.Working, time.Hour), now.Add(-time.Hour), "", "", true},
		{"a dialog", shows(profile.Blocked), nil, minute, "", "", false},
	} {
		s, _ := judgement.Of(judgement.Evidence{Profile: p, Now: now, Look: tt.look, Unchanged: minute, Hook: tt.hook})
		if !s.Since.Equal(tt.since) || (s.Origins.Since.Source == judgement.SourceHook) != tt.sinceFromHook {
			t.Errorf("%s: since %v by %+v, want %v", tt.name, s.Since, s.Origins.Since, tt.since)
		}
		if s.Reason != tt.reason || s.Origins.Reason.Source != tt.from {
			t.Errorf("%s: reason %q by %+v, want %q", tt.name, s.Reason, s.Origins.Reason, tt.reason)
		}
	}
}

// TestBackgroundOfUnknownLooks: without rules for background work, a prompt says nothing of it.
func TestBackgroundOfUnknownLooks(t *testing.T) {
	t.Parallel()
	e := judgement.Evidence{
		Profile: profileWith(t, profile.Idle), Now: now, Look: shows(profile.Idle), Unchanged: now.Add(-time.Hour),
		Hook: reports(hookstate.Background, time.Hour),
	}
	if s, again := judgement.Of(e); s.State != profile.Background || again != 0 {
		t.Errorf("%s, again after %v", s.State, again)
	}
}

// TestProcess: no state outlives the agent's process, and a headless agent works while it lives.
func TestProcess(t *testing.T) {
	t.Parallel()
	e := judgement.Evidence{Profile: profileWith(t, profile.Idle), Now: now, Look: shows(profile.Idle), Hook: reports(hookstate.Idle, 0), Front: "bash"}
	s, again := judgement.Of(e)
	want := judgement.State{Profile: "test", State: profile.Unknown, Origins: judgement.Origins{
		State: judgement.Origin{Source: judgement.SourceProcess, Why: "the agent has ended: 'bash' has its terminal"},
	}}
	if diff := cmp.Diff(want, s); diff != "" || again != 0 {
		t.Errorf("(-want +got), again after %v:\n%s", again, diff)
	}
	e.Front, e.Headless, e.Look = "", true, nil
	if s, _ := judgement.Of(e); s.State != profile.Working || s.Source != judgement.SourceProcess {
		t.Errorf("headless: %s by %s", s.State, s.Source)
	}
}

// TestPatience: an end of a turn that costs more when it is wrong waits longer.
func TestPatience(t *testing.T) {
	t.Parallel()
	e := judgement.Evidence{
		Profile: profileWith(t, profile.Idle), Now: now, Look: shows(profile.Idle), Unchanged: now.Add(-10 * time.Second),
		Hook: reports(hookstate.Working, time.Hour), Settled: 15 * time.Second,
	}
	if s, again := judgement.Of(e); s.State != profile.Working || again != 5*time.Second {
		t.Errorf("%s, again after %v", s.State, again)
	}
	// A report that came later counts from then.
	e.Settled, e.Hook = 0, reports(hookstate.Working, time.Second)
	if s, again := judgement.Of(e); s.State != profile.Working || again != 500*time.Millisecond {
		t.Errorf("%s, again after %v", s.State, again)
	}
}
