package plugintest

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
)

// TestCheckOfNoPlugin: only the first cases are run for a program that does not start as a
// plugin. The scripts of `swarm plugin check` and the packages below check real plugins.
func TestCheckOfNoPlugin(t *testing.T) {
	t.Parallel()
	other := backendtest.Binary{Path: "/bin/sh", Args: []string{"-c", "echo I am no plugin >&2; exit 3"}}
	for only, want := range map[string]map[string]Outcome{
		"":           {"start-by-hand": OK, "start-in-time": OK, "start-handshake": Failed},
		"^start-by-": {"start-by-hand": OK, "connect": Failed},
		"^spawn-":    {"connect": Failed},
	} {
		var reported []Result
		r := Check(t.Context(), other, CheckOptions{
			Only: regexp.MustCompile(only).MatchString,
			Each: func(r Result) { reported = append(reported, r) },
		})
		got := map[string]Outcome{}
		for _, result := range r.Results {
			got[result.Name] = result.Outcome
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("outcomes of %q (-want +got):\n%s", only, diff)
		}
		if diff := cmp.Diff(r.Results, reported); diff != "" {
			t.Errorf("results of %q (-returned +reported):\n%s", only, diff)
		}
		if r.Plugin.Name != "" || r.Count(Failed) != 1 {
			t.Errorf("%q: plugin %+v, %d failed", only, r.Plugin, r.Count(Failed))
		}
	}
}
