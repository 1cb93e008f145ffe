package server

import "testing"

// TestPhases: the worker gets from each phase to those that may follow, and nowhere
// else.
func TestPhases(t *testing.T) {
	t.Parallel()
	names := map[phase]string{running: "running", leaving: "leaving", pausing: "pausing", over: "over"}
	legal := map[[2]phase]bool{
		{running, leaving}: true,
		{leaving, pausing}: true, {leaving, over}: true,
		{pausing, running}: true, {pausing, pausing}: true, {pausing, over}: true,
	}
	for from := range names {
		for to := range names {
			k := shim{phase: from}
			moved, want := k.enter(to), legal[[2]phase{from, to}]
			if moved != want || !moved && k.phase != from || moved && k.phase != to {
				t.Errorf("from %s to %s: moved %t, now %s", names[from], names[to], moved, names[k.phase])
			}
		}
	}
}
