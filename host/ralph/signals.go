package ralph

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// settleLimit is how long a signal may take from the kernel to its channel.
	settleLimit = time.Second
	// hindsight is how long to wait, after the agent failed, for the signal that may have
	// been sent to the whole worker. It is less than any back-off.
	hindsight = 250 * time.Millisecond
)

// signals are the signals of the process, each kind on its own channel: many signals of one
// kind do not displace another, and one of each kind is enough.
type signals struct {
	children, resized, interrupts, ends chan os.Signal
}

func noticeSignals() *signals {
	s := &signals{
		children: make(chan os.Signal, 1), resized: make(chan os.Signal, 1),
		interrupts: make(chan os.Signal, 1), ends: make(chan os.Signal, 1),
	}
	signal.Notify(s.children, unix.SIGCHLD)
	signal.Notify(s.resized, unix.SIGWINCH)
	signal.Notify(s.interrupts, unix.SIGINT)
	signal.Notify(s.ends, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	return s
}

func (s *signals) stop() {
	for _, c := range []chan os.Signal{s.children, s.resized, s.interrupts, s.ends} {
		signal.Stop(c)
	}
}

// settle returns when the signals that were sent before are on their channels. They come in
// order, so it sends one and waits for it: the end of a child is seen by wait4 earlier than
// a signal that the loop got before the child did. A change of the window's size may be
// lost, so it is called only without an agent.
func (s *signals) settle() {
	drop(s.resized)
	if unix.Kill(os.Getpid(), unix.SIGWINCH) != nil {
		return
	}
	select {
	case <-s.resized:
	case <-time.After(settleLimit):
	}
}

func (s *signals) ended(d time.Duration) syscall.Signal {
	select {
	case sig := <-s.ends:
		return sig.(syscall.Signal)
	default:
	}
	select {
	case sig := <-s.ends:
		return sig.(syscall.Signal)
	case <-time.After(d):
		return 0
	}
}

// drop forgets a signal that has come already.
func drop(c chan os.Signal) {
	select {
	case <-c:
	default:
	}
}
