// Package pid1 makes swarm a good first process of a container. The kernel gives the first
// process of a PID namespace every orphan there, and kills all others at its end, so this
// process has to reap, and has to end the workers before it ends itself.
package pid1

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/swarmhost/swarm/shared/proc"
)

// shimName is the name of the program that keeps a worker.
const shimName = "swarm-shim"

// shimLimit is how long the shims may take to end their workers. Engines of containers kill
// all that is left much earlier, after 10 seconds if nothing else is set.
const shimLimit = 10 * time.Minute

// reportSpan is how long the child may take to report the ends of the workers before it is
// ended too.
const reportSpan = 500 * time.Millisecond

// recordLimit is how long the recording of the ends of the workers may take.
const recordLimit = 5 * time.Second

// Run returns false in any process but the first one of a PID namespace. There it runs this
// program once more, as its child, with the same arguments, variables and streams. It passes
// its signals on and reaps orphans until the child has ended, and returns the child's exit
// code. At SIGTERM, and when the child has ended, it ends the workers of this namespace by
// their policies, as a shutdown of the machine would; a second SIGTERM ends that wait. Ended
// workers are recorded by this program with the arguments record, before Run returns.
func Run(record ...string) (code int, ok bool) {
	if os.Getpid() != 1 {
		return 0, false
	}
	// One SIGCHLD stands for any number of ended processes.
	f := first{record: record, signals: make(chan os.Signal, 16), ends: make(chan os.Signal, 1)}
	signal.Notify(f.ends, syscall.SIGCHLD)
	signal.Notify(f.signals)
	if err := f.start(); err != nil {
		// The program can run as the first process too, though not as well.
		signal.Reset()
		return 0, false
	}
	f.attend()
	return f.code, true
}

// Inside reports whether this process is the child that [Run] has started: the workers end
// with its parent.
func Inside() bool {
	if os.Getppid() != 1 {
		return false
	}
	// The caller may be an orphan below another first process.
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return false
	}
	parent, err := os.Readlink("/proc/1/exe")
	return err == nil && parent == own
}

// first is the first process of a PID namespace.
type first struct {
	// record are the arguments that make this program record the ends of workers.
	record        []string
	signals, ends chan os.Signal
	// child is the pid of the child, 0 once it has ended with code.
	child, code int
	// recorder is the pid of the process that records the ends of workers, 0 once it has ended.
	recorder int
	// found says that there were shims when the workers were to be ended.
	found atomic.Bool
}

// start runs this program again. On a terminal it is in the foreground, so that the keys of
// the terminal reach it, and only once.
func (f *first) start() error {
	p, err := os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{
		Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{Setpgid: true, Foreground: term.IsTerminal(0)},
	})
	if err != nil {
		return err
	}
	f.child = p.Pid
	return p.Release() // reap waits for it
}

// startRecorder runs this program to record the ends of workers, which is not part of what the
// user has asked for: it prints nothing. It reports whether the process runs.
func (f *first) startRecorder() bool {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer null.Close()
	p, err := os.StartProcess("/proc/self/exe", append(os.Args[:1:1], f.record...), &os.ProcAttr{
		Env: os.Environ(), Files: []*os.File{null, null, null},
	})
	if err != nil {
		return false // the next call records them
	}
	f.recorder = p.Pid
	return p.Release() == nil // reap waits for it
}

// attend handles signals until the child and the workers have ended.
func (f *first) attend() {
	var (
		// ended is closed when the workers have ended, and nil unless they are being ended.
		ended <-chan struct{}
		// reported fires when the child has had its time to report their ends.
		reported <-chan time.Time
		// recorded fires when the ends of the workers have to be recorded.
		recorded <-chan time.Time
		// asked says that a SIGTERM has come, last that the workers are ended after the child.
		asked, last bool
	)
	// Children of the program that this one replaced may have ended before signals were taken.
	f.reap()
	for {
		select {
		case <-f.ends:
			f.reap()
		case s := <-f.signals:
			switch s := s.(syscall.Signal); {
			case s == syscall.SIGCHLD, s == syscall.SIGURG, s == syscall.SIGTTOU, s == syscall.SIGTTIN:
			case s == syscall.SIGTERM && last:
				return
			case s == syscall.SIGTERM && !asked:
				asked = true
				ended = f.endWorkers()
			default:
				f.pass(s)
			}
		case <-ended:
			ended = nil
			switch {
			case !last:
				reported = time.After(reportSpan)
			case !f.found.Load() || !f.startRecorder():
				return
			default:
				recorded = time.After(recordLimit)
			}
		case <-recorded:
			return
		case <-reported:
			reported = nil
			f.pass(syscall.SIGTERM)
		}
		if f.child == 0 && !last {
			last = true // it may have started workers since
			reported, ended = nil, f.endWorkers()
		}
		if recorded != nil && f.recorder == 0 {
			return
		}
	}
}

// pass gives a signal to the child. Only this process reaps it, so the pid is still its own.
func (f *first) pass(s syscall.Signal) {
	if f.child != 0 {
		_ = syscall.Kill(f.child, s) // it may be ending
	}
}

// reap takes the exit codes of all processes that have ended.
func (f *first) reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil || pid <= 0:
			return
		case pid == f.child:
			f.child, f.code = 0, ws.ExitStatus()
			if ws.Signaled() {
				f.code = 128 + int(ws.Signal())
			}
		case pid == f.recorder:
			f.recorder = 0
		}
	}
}

// endWorkers asks all shims of this namespace to end their workers, which they do by the
// policy of each. The channel is closed when they have ended.
func (f *first) endWorkers() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ctx, cancel := context.WithTimeout(context.Background(), shimLimit)
		defer cancel()
		// A worker's name may be that of a shim. It gets SIGTERM here, and the kernel's
		// SIGKILL a moment later, as all that is left then.
		shims, err := proc.Find(func(p proc.Process) bool { return p.Name == shimName })
		if err != nil {
			return // without /proc no shim is found
		}
		var all sync.WaitGroup
		if len(shims) > 0 {
			f.found.Store(true)
		}
		for _, p := range shims {
			all.Go(func() {
				if p.Signal(syscall.SIGTERM) == nil {
					_ = proc.AwaitEnd(ctx, p.Identity)
				}
			})
		}
		all.Wait()
	}()
	return ended
}
