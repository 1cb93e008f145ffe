package server

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/server/inherit"
	"github.com/swarmhost/swarm/shared/shim/server/program"
)

// A worker with limits is started in two steps: a process with the worker's streams, its
// session and its environment runs this program once more, which enters the worker's group,
// sets what holds for itself alone, and then becomes the worker's program. So nothing of
// the worker ever runs without its limits, and the shim has none of them.

const (
	// enterArg is the first argument of that process.
	enterArg = "enter"
	// enterLimit is how long it may take. A machine under load takes a while.
	enterLimit = 30 * time.Second
)

// The steps of that process, for its report.
const (
	stepEnter = "enter"
	stepNice  = "nice"
	stepData  = "data"
	stepApart = "apart"
	stepExec  = "exec"
)

// enter is that process. Its arguments are the descriptor on which it reports why it could not
// become the program, the nice value, the limit of the memory of a single process or 0, other
// limits, see [inherit.Inherited.Apart], the number of groups, the path of the program, and its arguments. The next descriptors are the
// files by which it enters groups.
func enter(args []string) int {
	if len(args) < 7 {
		return exitUsage
	}
	// The thread that executes a program passes its nice value on.
	runtime.LockOSThread()
	reportFD, err0 := strconv.Atoi(args[0])
	nice, err1 := strconv.Atoi(args[1])
	data, err2 := strconv.ParseUint(args[2], 10, 64)
	groups, err3 := strconv.Atoi(args[4])
	if errors.Join(err0, err1, err2, err3) != nil {
		return exitUsage
	}
	report := func(step string, err error) int {
		errno, _ := errors.AsType[syscall.Errno](err)
		_, _ = unix.Write(reportFD, []byte(step+" "+strconv.Itoa(int(errno))))
		return exitError
	}
	for fd := reportFD; fd <= reportFD+groups; fd++ {
		unix.CloseOnExec(fd)
	}
	for fd := reportFD + 1; fd <= reportFD+groups; fd++ {
		if _, err := unix.Write(fd, []byte("0")); err != nil {
			return report(stepEnter, err)
		}
	}
	if nice != 0 {
		if err := unix.Setpriority(unix.PRIO_PROCESS, 0, nice); err != nil {
			return report(stepNice, err)
		}
	}
	if data != 0 {
		if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: data, Max: data}); err != nil {
			return report(stepData, err)
		}
	}
	if err := inherit.SetApart(args[3]); err != nil {
		return report(stepApart, err)
	}
	return report(stepExec, syscall.Exec(args[5], args[6:], os.Environ()))
}

// forkLimited starts the main process within its limits, and returns once its program runs.
func (k *shim) forkLimited(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	files := k.group.EntryFiles()
	said, report, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer said.Close()
	theirs := []*os.File{report}
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	for _, name := range files {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return 0, errors.New("the group of the worker can't be entered: " + err.Error())
		}
		theirs = append(theirs, f)
	}
	reportFD := len(attr.Files)
	for _, f := range theirs {
		attr.Files = append(attr.Files, f.Fd())
	}
	args := append([]string{
		"swarm-shim", enterArg, strconv.Itoa(reportFD), strconv.Itoa(k.launch.Limits.Nice), strconv.FormatInt(k.data, 10), k.inherited.Apart(), strconv.Itoa(len(files)), program,
	}, argv...)
	pid, err := syscall.ForkExec(ownProgram(), args, attr)
	if err != nil {
		return 0, errors.New("cannot start the worker within its limits: " + err.Error())
	}
	report.Close()
	_ = said.SetReadDeadline(time.Now().Add(enterLimit))
	var buf [64]byte
	n, err := said.Read(buf[:])
	if n == 0 && !errors.Is(err, os.ErrDeadlineExceeded) {
		return pid, nil
	}
	_ = unix.Kill(pid, unix.SIGKILL)
	_, _ = unix.Wait4(pid, nil, 0, nil)
	return 0, k.enterError(argv[0], string(buf[:n]))
}

// enterError turns the report of a process that did not become the program into an error.
func (k *shim) enterError(command, report string) error {
	step, number, _ := strings.Cut(report, " ")
	n, _ := strconv.Atoi(number)
	err := syscall.Errno(n)
	switch step {
	case stepExec:
		return program.StartError(command, err)
	case stepNice:
		return errors.New("the nice value " + strconv.Itoa(k.launch.Limits.Nice) + " can't be set: " + err.Error())
	case stepData:
		return errors.New("the memory of the processes can't be limited: " + err.Error())
	case stepApart:
		return errors.New("the resource limits of the caller can't be set: " + err.Error())
	case stepEnter:
		return errors.New("the group of the worker can't be entered: " + err.Error())
	default:
		return errors.New("the worker did not start within its limits in time")
	}
}
