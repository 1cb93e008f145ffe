package set

import "sync"

// inOrder calls do with every name, once it has returned for all names that this
// one waits for; those that do not wait for each other at the same time. Names
// that are waited for and not among names are not waited for. There is no cycle.
func inOrder(names []string, after map[string][]string, do func(name string)) {
	done := make(map[string]chan struct{}, len(names))
	for _, name := range names {
		done[name] = make(chan struct{})
	}
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			defer close(done[name])
			for _, other := range after[name] {
				if c := done[other]; c != nil {
					<-c
				}
			}
			do(name)
		})
	}
	wg.Wait()
}
