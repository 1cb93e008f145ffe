package ssh

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// TestGreetings has commands in the place of swarm-remote that fail to greet: the reason is
// reported, and only programs that can't be run are copied.
func TestGreetings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script, want string
		missing            bool
	}{
		{"a shell that prints without end", "while :; do echo more; done", "the login shell there prints without end", false},
		{"no such program", "echo no such file >&2; exit 127", "can't be run on anybox: no such file", true},
		{"changed programs", "exit 1", "can't be run on anybox: exit code 1", true},
		{"another program", "echo hello", "can't be run on anybox: exit code 0", true},
		{"a late exit code", "exec >&-; sleep 1; exit 126", "exit code 126", true},
		{"other programs", "echo swarm-remote serves another m s; read -r line", "is another one", true},
		{"a program that was killed there", "exit 137", "exit code 137", false},
		{"an ssh that was killed", "kill -9 $$", "can't reach anybox", false},
		{"no connection", "echo refused >&2; exit 255", "can't reach anybox: refused", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, _ := clientOf(t, `case " $* " in *" -G "*) exit;; esac; `+test.script)
			c.config.ConnectTimeout = 60
			l := &link{client: c, log: slog.New(slog.DiscardHandler), life: t.Context()}
			s, missing, err := l.serve(t.Context(), "hash")
			if s != nil || missing != test.missing || !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("missing %v, error %v", missing, err)
			}
		})
	}
}

// TestGreetingOfNoInterest ends the plugin while it waits for the greeting: nothing is copied.
func TestGreetingOfNoInterest(t *testing.T) {
	t.Parallel()
	c, dir := clientOf(t, `case " $* " in *" -G "*) exit;; esac; : >"$DIR/begun"; exec sleep 600`)
	c.config.ConnectTimeout = 60
	l := &link{client: c, log: slog.New(slog.DiscardHandler), life: t.Context()}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(dir + "/begun"); err == nil {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if _, missing, err := l.serve(ctx, "hash"); missing || !errors.Is(err, context.Canceled) {
		t.Errorf("missing %v, error %v", missing, err)
	}
}
