package backendtest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
)

// failures returns the names of the cases that a backend fails, of those that
// are wanted.
func failures(t *testing.T, b Backend, wanted func(testCase) bool) []string {
	t.Helper()
	var mu sync.Mutex
	var failed []string
	probe := b.direct(t, "")
	var cases sync.WaitGroup
	for _, c := range backendCases() {
		if c.skip(probe) != "" || !wanted(c) {
			continue
		}
		cases.Go(func() {
			why, _ := harness.Record(t.Context(), c.name, func(t T) { c.run(newKit(t, c, b.settings(), b.direct)) })
			if len(why) == 0 {
				return
			}
			if !strings.Contains(why[0], "broken: "+c.rule+"\n") {
				t.Errorf("%s failed without naming its rule: %s", c.name, why[0])
			}
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, c.name)
		})
	}
	cases.Wait()
	slices.Sort(failed)
	return failed
}
