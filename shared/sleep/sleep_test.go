package sleep_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmhost/swarm/shared/sleep"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := sleep.For(t.Context(), time.Hour); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("returned %v after %s, want nil after an hour", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun = time.Now()
		if err := sleep.For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
			t.Errorf("returned %v after %s, want the end of the context after a minute", err, time.Since(begun))
		}
		if err := sleep.For(t.Context(), 0); err != nil {
			t.Errorf("returned %v for no time at all", err)
		}
		if err := sleep.For(ctx, -time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("returned %v for no time in an ended context", err)
		}
	})
}
