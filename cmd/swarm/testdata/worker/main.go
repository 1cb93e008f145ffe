// Worker is a program for the scripts to keep running and to end: each of its
// modes is a way in which real workers are hard to end.
//
//	worker ignore DIR           ignores SIGTERM, SIGHUP and SIGINT; pid in DIR/pid
//	worker untitled DIR         ignores them too, overwrites its environment, leaves its directory
//	worker record DIR           writes the signals that it gets to DIR/signals and continues
//	worker polite DIR D         takes D for its end after SIGTERM, then exits with 7
//	worker ignoretree DIR       three generations that all ignore SIGTERM, SIGHUP, SIGINT
//	worker daemon DIR           a daemon by double fork in a session of its own; the worker continues
//	worker leader DIR           starts a daemon and exits with 0 first
//	worker stopped DIR          stops itself with SIGSTOP
//	worker storm DIR N          starts processes that start processes, N in all, without end
//	worker flood DIR            writes lines without end, the number of them to DIR/lines
//	worker write N              writes N bytes of numbered lines
//	worker size DIR             writes the terminal's size to DIR/size, at every change again
//	worker read DIR [paste]     writes what it reads to DIR/got, after every read all of it;
//	                            with paste it asks its terminal to mark what is pasted
//	worker agent DIR [OPTION…]  looks like a coding agent; DIR/said holds what was
//	                            submitted, DIR/picked which choices were
//	worker spin DIR             keeps a processor busy
//	worker listen DIR PORT      listens on a TCP port of 127.0.0.1
//	worker crowd DIR N          has N clients of its own shim wait for its end
//	worker await FILE           waits until there is the file, and exits with 0
//	worker mute DIR             puts a socket in the place of its shim's, and answers no client
//	worker obey DIR             runs the commands that it is asked to
//	worker ask DIR COMMAND      asks it, waits for it, has its output and its exit code
//	worker init N COMMAND…      runs the command N times as the first process of a container
//	                            that waits for no child of others, and prints the zombies
//
// DIR/pid holds the pid of the worker, DIR/pid.1 and so on those of what it
// started, each written when that process is ready.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) < 3 {
		fail("usage: worker MODE DIR [ARG]")
	}
	mode, dir, arg := os.Args[1], os.Args[2], ""
	if len(os.Args) > 3 {
		arg = os.Args[3]
	}
	switch mode {
	case "await":
		await(dir)
		return
	case "ignore":
		ignore()
		ready(dir, "pid")
	case "untitled":
		untitled(dir)
	case "record":
		record(dir)
	case "polite":
		polite(dir, arg)
	case "ignoretree":
		ignore()
		generation(dir, arg)
	case "daemon":
		daemonise(dir)
		ready(dir, "pid")
	case "leader":
		daemonise(dir)
		os.Exit(0)
	case "middle":
		start(true, []*os.File{os.NewFile(3, "pipe")}, "grandchild", dir)
		os.Exit(0)
	case "grandchild":
		ready(dir, "pid.1")
		os.NewFile(3, "pipe").Close()
	case "stopped":
		ready(dir, "pid")
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "storm":
		storm(dir, arg)
	case "flood":
		flood(dir)
	case "write":
		write(dir)
	case "size":
		size(dir)
	case "read":
		read(dir, arg == "paste")
	case "agent":
		agent(dir, os.Args[3:])
		os.Exit(0)
	case "listen":
		listen(dir, arg)
	case "crowd":
		crowd(arg)
		ready(dir, "pid")
	case "mute":
		mute()
		ready(dir, "pid")
	case "obey":
		obey(dir)
	case "ask":
		ask(dir, arg)
	case "init":
		first(dir, os.Args[3:])
		os.Exit(0)
	case "spin":
		ready(dir, "pid")
		for {
		}
	default:
		fail("unknown mode " + mode)
	}
	wait()
}

// await costs less than a loop of a shell, which starts a program for each look.
func await(file string) {
	for range time.Tick(20 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, "worker:", text)
	os.Exit(2)
}

// wait returns never; an empty select would be a deadlock to the runtime.
func wait() {
	for range time.Tick(time.Hour) {
	}
}

// shimSocket is the control socket of the worker's own shim.
func shimSocket() string {
	return filepath.Join(os.Getenv("SWARM_DIR"), "workers", os.Getenv("SWARM_WORKER_ID"), "ctl.sock")
}

func crowd(n string) {
	count, err := strconv.Atoi(n)
	if err != nil {
		fail(err.Error())
	}
	for count > 0 {
		c, err := net.Dial("unix", shimSocket())
		if errors.Is(err, syscall.EAGAIN) {
			continue // its queue is full for a moment
		}
		if err != nil {
			fail(err.Error())
		}
		if _, err := io.WriteString(c, "wait\n"); err != nil {
			fail(err.Error())
		}
		kept = append(kept, c)
		count--
	}
}

// kept is what must stay open.
var kept []io.Closer

func mute() {
	ignore()
	if err := os.Remove(shimSocket()); err != nil {
		fail(err.Error())
	}
	l, err := net.Listen("unix", shimSocket())
	if err != nil {
		fail(err.Error())
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				fail(err.Error())
			}
			kept = append(kept, c)
		}
	}()
}

func ignore() { signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT) }

// put replaces a file, so that no reader sees half of it.
func put(dir, name, text string) {
	tmp := filepath.Join(dir, name+".tmp"+strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		fail(err.Error())
	}
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
		fail(err.Error())
	}
}

func ready(dir, name string) { put(dir, name, strconv.Itoa(os.Getpid())+"\n") }

// start starts this program in another mode, in a session of its own or not, with
// files from descriptor 3 on.
func start(session bool, files []*os.File, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		fail(err.Error())
	}
	cmd := exec.Command(self, args...)
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		fail(err.Error())
	}
	return cmd
}

// daemonise starts a grandchild whose parent is gone, and waits until it runs:
// then the last writing end of the pipe is closed.
func daemonise(dir string) {
	r, w, err := os.Pipe()
	if err != nil {
		fail(err.Error())
	}
	middle := start(true, []*os.File{w}, "middle", dir)
	w.Close()
	if err := middle.Wait(); err != nil {
		fail(err.Error())
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		fail(err.Error())
	}
}

func record(dir string) {
	ch := make(chan os.Signal, 16)
	signal.Notify(ch, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGUSR2)
	ready(dir, "pid")
	text := ""
	for sig := range ch {
		text += unix.SignalName(sig.(syscall.Signal)) + "\n"
		put(dir, "signals", text)
	}
}

func polite(dir, arg string) {
	d, err := time.ParseDuration(arg)
	if err != nil {
		fail(err.Error())
	}
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGTERM)
	ready(dir, "pid")
	<-ch
	<-time.After(d)
	put(dir, "cleaned", "yes\n")
	os.Exit(7)
}

func generation(dir, arg string) {
	n, _ := strconv.Atoi(arg)
	name := "pid"
	if n > 0 {
		name += "." + arg
	}
	if n < 2 {
		start(n == 1, nil, "ignoretree", dir, strconv.Itoa(n+1))
	}
	ready(dir, name)
}

// storm keeps n processes alive that keep starting others, in sessions of their
// own: arg is how many levels are left.
func storm(dir, arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		fail(err.Error())
	}
	ready(dir, "pid")
	slots := make(chan struct{}, n)
	for {
		slots <- struct{}{}
		cmd := exec.Command("sh", "-c", "sleep 0.2 & sleep 0.1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			<-slots
			continue
		}
		go func() {
			_ = cmd.Wait()
			<-slots
		}()
	}
}

func flood(dir string) {
	ready(dir, "pid")
	out := bufio.NewWriter(os.Stdout)
	last := time.Now()
	for n := 1; ; n++ {
		if _, err := fmt.Fprintf(out, "line %09d of a flood that fills the log with lines that are never read\n", n); err != nil {
			fail(err.Error())
		}
		if now := time.Now(); now.Sub(last) > 50*time.Millisecond {
			put(dir, "lines", strconv.Itoa(n)+"\n")
			last = now
		}
	}
}

func write(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		fail(err.Error())
	}
	out := bufio.NewWriter(os.Stdout)
	for i := 1; n > 0; i++ {
		line := fmt.Sprintf("%015d", i)
		n -= len(line) + 1
		fmt.Fprintln(out, line)
	}
	if err := out.Flush(); err != nil {
		fail(err.Error())
	}
	os.Exit(0)
}

func size(dir string) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGWINCH)
	ready(dir, "pid")
	for {
		ws, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
		if err != nil {
			fail(err.Error())
		}
		put(dir, "size", fmt.Sprintf("%dx%d\n", ws.Col, ws.Row))
		<-ch
	}
}

func read(dir string, paste bool) {
	if paste {
		fmt.Print("\x1b[?2004h")
	}
	ready(dir, "pid")
	var got []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := os.Stdin.Read(buf)
		got = append(got, buf[:n]...)
		put(dir, "got", string(got))
		if err != nil {
			put(dir, "end", err.Error()+"\n")
			return
		}
	}
}
