package backendtest

import (
	"reflect"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func statusCases() []testCase {
	return []testCase{
		{
			name: "status-running",
			rule: "a worker that runs has the state running and no exit",
			run: func(k *kit) {
				if st := k.ready(script.Sleep).status(); st.State != swarm.StateRunning || st.Exit != nil {
					k.Broken("got %+v", st)
				}
			},
		},
		{
			name: "status-exit-code",
			rule: "a worker that ended by itself has the state exited, with its real code, cause and time",
			run: func(k *kit) {
				k.wantExit(k.spawn(script.Lines).ended(), swarm.Exit{Code: 3, Cause: swarm.CauseExited})
				k.wantExit(k.spawn(script.True).ended(), swarm.Exit{Code: 0, Cause: swarm.CauseExited})
			},
		},
		{
			name: "status-exit-signal",
			rule: "a worker that was ended by a signal has the code -1 and the name of the signal",
			run: func(k *kit) {
				k.wantExit(k.spawn(script.Crash).ended(), swarm.Exit{Code: -1, Signal: "SIGSEGV", Cause: swarm.CauseExited})
			},
		},
		{
			name: "status-changes-nothing",
			rule: "Status changes nothing, however often it is called",
			run: func(k *kit) {
				running, over := k.ready(script.Sleep), k.spawn(script.True)
				over.ended()
				for _, w := range []*worker{running, over} {
					first := w.status()
					for range 5 {
						if again := w.status(); !reflect.DeepEqual(first, again) {
							k.Broken("first %+v, then %+v", first, again)
							return
						}
					}
				}
			},
		},
	}
}

// wantExit checks how a worker ended. The time must be set; the reason is not checked.
func (k *kit) wantExit(st swarm.Status, want swarm.Exit) {
	k.Helper()
	if st.State != swarm.StateExited || st.Exit == nil {
		k.Broken("want exited, got %+v", st)
		return
	}
	got := *st.Exit
	if got.Time.IsZero() {
		k.Broken("the time of the end is missing")
	}
	if got.Code != want.Code || got.Signal != want.Signal || got.Cause != want.Cause {
		k.Broken("want code %d, signal %q, cause %q; got code %d, signal %q, cause %q",
			want.Code, want.Signal, want.Cause, got.Code, got.Signal, got.Cause)
	}
}
