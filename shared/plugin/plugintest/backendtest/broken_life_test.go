package backendtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func onWatch(f func(each func(swarm.Status) error, right func(func(swarm.Status) error) error) error) hooks {
	return hooks{talk: talkHooks{watch: f}}
}

// onReport changes the statuses that a watch reports.
func onReport(f func(st swarm.Status, each func(swarm.Status) error) error) hooks {
	return onWatch(func(each func(swarm.Status) error, right func(func(swarm.Status) error) error) error {
		return right(func(st swarm.Status) error { return f(st, each) })
	})
}

// onWatched changes the error of a watch.
func onWatched(f func(error) error) hooks {
	return onWatch(func(each func(swarm.Status) error, right func(func(swarm.Status) error) error) error {
		return f(right(each))
	})
}

func onComplete(f func(summary string, right func(string) error) error) hooks {
	return hooks{talk: talkHooks{complete: f}}
}

// onTooLate answers a completion that is too late for one reason as if it were
// not.
func onTooLate(why string) hooks {
	return onComplete(func(summary string, right func(string) error) error {
		if err := right(summary); !errors.Is(err, swarm.ErrTooLate) || !strings.Contains(err.Error(), why) {
			return err
		}
		return nil
	})
}

// onStatus changes what Status says.
func onStatus(f func(spec swarm.Spec, st *swarm.Status)) hooks {
	return hooks{status: func(b *broken, h swarm.Handle, st swarm.Status, err error) (swarm.Status, error) {
		f(b.specOf(h), &st)
		return st, err
	}}
}

// onEnd changes what Status says of the end of a worker.
func onEnd(f func(spec swarm.Spec, st *swarm.Status)) hooks {
	return onStatus(func(spec swarm.Spec, st *swarm.Status) {
		if st.Exit != nil {
			f(spec, st)
		}
	})
}

// lifeWays are the ways to break the rules of what becomes of a worker.
func lifeWays() map[string]hooks {
	return map[string]hooks{
		"watch-to-the-end": onReport(func(st swarm.Status, each func(swarm.Status) error) error {
			if st.Exit != nil && st.Exit.Code == 7 {
				return nil
			}
			return each(st)
		}),
		"watch-what-ended": onReport(func(st swarm.Status, each func(swarm.Status) error) error {
			if st.Exit != nil && st.Exit.Code == 3 {
				_ = each(st)
			}
			return each(st)
		}),
		"watch-callback-fails": onWatched(func(err error) error {
			if err != nil && err.Error() == "enough" {
				return fmt.Errorf("watch: %w", err)
			}
			return err
		}),
		"watch-cancelled": onWatched(func(err error) error {
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}),
		"watch-bad-handle": onWatched(func(err error) error {
			if errors.Is(err, swarm.ErrInvalidHandle) {
				return nil
			}
			return err
		}),
		"watch-reports-restarts": onReport(func(st swarm.Status, each func(swarm.Status) error) error {
			st.Restarts = 0
			return each(st)
		}),
		"watch-reports-completion": onReport(func(st swarm.Status, each func(swarm.Status) error) error {
			st.Completion = nil
			return each(st)
		}),
		"complete-is-recorded": onComplete(func(summary string, right func(string) error) error {
			return right(strings.ToValidUTF8(strings.ReplaceAll(summary, "é", ""), ""))
		}),
		"complete-is-the-cause": onEnd(func(_ swarm.Spec, st *swarm.Status) {
			if st.Exit.Code == 7 && st.Exit.Cause == swarm.CauseCompleted {
				st.Exit.Cause = swarm.CauseKilled
			}
		}),
		"complete-ends-the-worker": onEnd(func(_ swarm.Spec, st *swarm.Status) {
			if st.Exit.Signal == "SIGKILL" && st.Exit.Cause == swarm.CauseCompleted {
				st.Exit.Cause = swarm.CauseKilled
			}
		}),
		"complete-once":          onTooLate("has completed"),
		"complete-in-a-kill":     onTooLate("is being killed"),
		"complete-after-the-end": onTooLate("has ended"),
		"complete-long-summary": onStatus(func(_ swarm.Spec, st *swarm.Status) {
			if st.Completion != nil && len(st.Completion.Summary) == swarm.MaxSummary {
				st.Completion.Summary += "0"
			}
		}),
		"complete-bad-handle": onComplete(func(summary string, right func(string) error) error {
			if err := right(summary); !errors.Is(err, swarm.ErrInvalidHandle) {
				return err
			}
			return nil
		}),
		"restart-after-a-failure": onEnd(func(_ swarm.Spec, st *swarm.Status) {
			if st.Exit.Cause == swarm.CauseCrashLoop && st.Exit.Code == 3 {
				st.Exit.Cause = swarm.CauseExited
			}
		}),
		"restart-always": onEnd(func(_ swarm.Spec, st *swarm.Status) {
			if st.Exit.Cause == swarm.CauseCrashLoop && st.Exit.Code == 0 {
				st.LastRestarts = nil
			}
		}),
		"restart-not-after-success": {spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			if s.Restart.When == swarm.RestartOnFailure && s.Command[0] == string(script.True) {
				s.Restart.When = swarm.RestartAlways
			}
			return b.right(ctx, s)
		}},
		"restart-waits": onStatus(func(_ swarm.Spec, st *swarm.Status) { st.Reason = "" }),
		"restart-not-after-a-kill": onEnd(func(spec swarm.Spec, st *swarm.Status) {
			if st.Exit.Cause == swarm.CauseKilled && spec.Restart.When == swarm.RestartAlways {
				st.Restarts = 1
			}
		}),
		"restart-not-after-completion": onEnd(func(spec swarm.Spec, st *swarm.Status) {
			if st.Exit.Cause == swarm.CauseCompleted && spec.Restart.When == swarm.RestartAlways {
				st.Restarts = 1
			}
		}),
	}
}
