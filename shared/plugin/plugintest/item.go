package plugintest

import (
	"fmt"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// item is a case together with its subject.
type item struct {
	name, rule string
	// skip is the reason why the rule does not apply here; empty if the case is run.
	skip string
	// alone says that the case needs the machine for itself: others beside it would time
	// out.
	alone bool
	run   func(t T)
}

// backendItems are the cases of a backend. probe holds its capabilities.
func backendItems(s settings, open opener, probe subject) []item {
	var items []item
	for _, c := range backendCases() {
		items = append(items, item{
			name: c.name, rule: c.rule, skip: c.skip(probe), alone: c.alone,
			run: func(t T) { t.Helper(); c.check(t, s, open) },
		})
	}
	return items
}

// skip is the reason why the rule does not apply to the backend; empty if it does.
func (c testCase) skip(s subject) string {
	for _, need := range []swarm.Capability{c.needs, c.also} {
		if !s.has(need) {
			return fmt.Sprintf("it does not have the capability %q", need)
		}
	}
	switch {
	case c.local && !s.local:
		return "it is not local"
	case c.built && s.plugin == nil:
		return "it is not a process of its own"
	}
	return ""
}

// runTests runs items as subtests, all at the same time if they may, and reports
// whether those that were waited for passed.
func runTests(t *testing.T, items []item, parallel bool) bool {
	t.Helper()
	ok := true
	for _, i := range items {
		if i.skip != "" {
			continue
		}
		ok = t.Run(i.name, func(t *testing.T) {
			if parallel && !i.alone {
				t.Parallel()
			}
			i.run(t)
		}) && ok
	}
	return ok
}
