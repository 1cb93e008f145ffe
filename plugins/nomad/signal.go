package nomad

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Signal signals the worker's main process: Nomad signals no other, whatever the
// mode.
func (b *Backend) Signal(ctx context.Context, h swarm.Handle, o swarm.SignalOptions) error {
	name, err := parseSignal(o.Signal)
	if err != nil {
		return err
	}
	r, s, st, err := b.now(ctx, h)
	if err != nil {
		return err
	}
	switch a := s.allocs[r.ID]; {
	case isFinal(st):
		return fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	case a == nil || a.ClientStatus != api.AllocClientStatusRunning:
		return fmt.Errorf("%w: %s", swarm.ErrUnavailable, st.Reason)
	default:
		return b.signal(ctx, r, a.ID, name)
	}
}

// signals are the names of the numbers that Linux, on which the nodes run, gives
// them on all machines but those with a MIPS.
var signals = [...]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
	9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
	17: "SIGCHLD", 18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU", 23: "SIGURG",
	24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO", 31: "SIGSYS",
}

func signalName(n int) string {
	if n > 0 && n < len(signals) && signals[n] != "" {
		return signals[n]
	}
	return "signal " + strconv.Itoa(n)
}

// parseSignal is [swarm.ParseSignal] for the signals that Nomad knows. Its clients send SIGINT in
// the place of any other.
func parseSignal(s string) (string, error) {
	name, err := swarm.ParseSignal(s)
	if err == nil && !slices.Contains(signals[:], name) {
		return "", fmt.Errorf("%w: Nomad can't send %s", swarm.ErrInvalidSpec, name)
	}
	return name, err
}
