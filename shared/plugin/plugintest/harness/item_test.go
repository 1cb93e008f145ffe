package harness

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRunInterrupted: a case that the end of the whole check cuts off says nothing about the plugin, and no
// other case begins after it.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	items := []Item{
		{Name: "kept", Run: func(T) {}},
		{Name: "broken", Run: func(t T) { t.Errorf("seen") }},
		{Name: "other", Skip: "it does not apply"},
		{Name: "cut-off", Run: func(t T) {
			interrupt()
			<-t.Context().Done()
			t.Fatalf("the call failed: %v", t.Context().Err())
		}},
		{Name: "later", Run: func(t T) { t.Errorf("it began") }},
		{Name: "alone", Alone: true, Run: func(t T) { t.Errorf("it began") }},
	}
	var reported []string
	got := map[string]Outcome{}
	for _, r := range Run(ctx, items, 1, func(r Result) { reported = append(reported, r.Name) }) {
		got[r.Name] = r.Outcome
		if r.Outcome == NotRun && (len(r.Problems) > 0 || r.Why == "") {
			t.Errorf("%s: %+v", r.Name, r)
		}
	}
	want := map[string]Outcome{"kept": OK, "broken": Failed, "other": Skipped, "cut-off": NotRun, "later": NotRun, "alone": NotRun}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if len(reported) != len(items) {
		t.Errorf("reported: %q", reported)
	}
}
