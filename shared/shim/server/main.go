package server

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/box"
	"github.com/swarmhost/swarm/shared/shim/server/command"
	"github.com/swarmhost/swarm/shared/shim/server/control"
	"github.com/swarmhost/swarm/shared/shim/server/inherit"
	"github.com/swarmhost/swarm/shared/shim/server/record"
	"github.com/swarmhost/swarm/shared/shim/server/tail"
)

// Exit codes of the shim itself; the worker's is in its status.
const (
	exitDone  = 0
	exitError = 1
	exitUsage = 2
)

// Main runs the shim of the worker whose run directory is the only argument until the
// worker has ended completely, and returns the shim's own exit code.
func Main(args []string) int {
	switch {
	case len(args) > 1 && args[0] == enterArg:
		return enter(args[1:])
	case len(args) == 1 && args[0] == box.Arg:
		return box.Inside()
	case len(args) == 1 && args[0] == rundir.TailFlag:
		return tail.Main()
	case len(args) > 1 && args[0] == rundir.ExecArg:
		return command.Main(args)
	case len(args) != 1:
		os.Stderr.WriteString("usage: swarm-shim RUN-DIRECTORY\nswarm starts this program; do not run it by hand.\n")
		return exitUsage
	}
	// One worker needs no second processor, and each costs memory.
	runtime.GOMAXPROCS(1)
	err := settle()
	if err == nil {
		err = os.Chdir(args[0])
	}
	if err != nil {
		os.Stderr.WriteString("swarm-shim: " + err.Error() + "\n")
		return exitError
	}
	// It stays open from now on: if the shim dies early, the waiting process reads end of
	// file.
	ready := openReady()
	k, err := start()
	if err != nil {
		ready.say("error " + err.Error())
		return exitError
	}
	ready.say("ok")
	return k.run()
}

// start performs all steps up to the running worker, or undoes them.
func start() (_ *shim, err error) {
	// A process that finds neither launch file nor status waits for this lock.
	starting, err := safefile.LockDir(".", safefile.Exclusive)
	if err != nil {
		return nil, err
	}
	defer starting.Close()
	b, err := safefile.Read(rundir.LaunchFile, rundir.MaxLaunch)
	if err != nil {
		return nil, err
	}
	// It holds the environment, with its secrets. The process that removes it owns the
	// start: nothing is started from a launch file that another process took back.
	if err := os.Remove(rundir.LaunchFile); err != nil {
		return nil, err
	}
	launch, err := rundir.DecodeLaunch(b)
	if err != nil {
		return nil, err
	}
	self, err := proc.Identify(os.Getpid())
	if err != nil {
		return nil, err
	}
	k := newShim(launch, self)
	k.inherited = inherit.Take(launch.Inherit)
	defer func() {
		if err != nil {
			k.undo()
		}
	}()
	if k.file, err = newStatusFile(); err != nil {
		return nil, err
	}
	k.inherited.Raise()
	if k.log, err = record.OpenLog(mostOutput(launch.OutputLimit), k.calls); err != nil {
		return nil, err
	}
	if launch.Transcript {
		if k.transcript, err = record.OpenTranscript(launch.OutputLimit, k.calls); err != nil {
			return nil, err
		}
	}
	if k.control, err = control.Listen(k.requests); err != nil {
		return nil, err
	}
	if err := k.catchSignals(); err != nil {
		return nil, err
	}
	if err := watchOwner(launch.Owner, k.ownerEnded); err != nil {
		return nil, err
	}
	// The worker may write at once.
	if k.calls.begin() {
		defer k.calls.end()
	}
	if err := k.startWorker(); err != nil {
		return nil, err
	}
	if err := k.file.write(k.encode(k.status)); err != nil {
		// No host could ever learn of this worker.
		k.forcing = true
		members, _ := k.members()
		k.sweep(members)
		k.reap()
		return nil, err
	}
	if launch.Restart.When == "" {
		k.launch.Command, k.launch.Wrap = nil, nil
	}
	trim()
	return k, nil
}

// closeInherited closes descriptors that the program that started the shim left open:
// inherited ones lack the close-on-exec flag, and those of the Go runtime have it.
func closeInherited() error {
	// Both Linux and darwin list this process's descriptors here.
	d, err := os.Open("/dev/fd")
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd < 3 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	return err
}

// ready is the FIFO on which a process may wait for the start, -1 if none does.
type ready int

func openReady() ready {
	// Not blocking: without a reader, opening fails instead of waiting for one.
	fd, err := unix.Open(rundir.ReadyFIFO, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return ready(fd)
}

// say writes one line, in one piece. It ignores the absence of a reader.
func (r ready) say(text string) {
	if r < 0 {
		return
	}
	line := strings.ReplaceAll(text, "\n", " ")
	if len(line) > rundir.MaxLine-1 {
		line = line[:rundir.MaxLine-1]
	}
	_, _ = unix.Write(int(r), []byte(line+"\n"))
	_ = unix.Close(int(r))
}
