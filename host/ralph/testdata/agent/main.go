// Agent is a program for tests of loops. It does on its terminal what real agents
// do, step by step as its arguments say:
//
//	agent DIR STEP... [/ STEP...]...
//
// DIR/runs counts the runs. The first run does the steps before the first slash,
// the second one those behind it, and so on; the last ones are done again and
// again. Without a step that ends it a run ends with exit code 0.
//
//	read        show a prompt, read with raw mode and bracketed paste until Enter,
//	            put it into DIR/prompt.N
//	line        the same in line mode: one line
//	echo        write the text that was read, framed and wrapped as agents do
//	say=TEXT    write a line; _ is a blank
//	part=TEXT   write TEXT without an end of line
//	ignore      ignore SIGTERM and SIGHUP from now on
//	fork        start a child in a session of its own that ignores SIGTERM, pid in
//	            DIR/child.N
//	alt         use the alternate screen and hide the cursor
//	wait=FILE   wait until DIR/FILE is there
//	tick=D      write a dot every D, without end
//	hang        do nothing, without end
//	exit=N      exit with that code
//	die=N       end by that signal
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

type agent struct {
	dir  string
	run  int
	text []byte
	in   *bufio.Reader
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: agent DIR STEP..."))
	}
	a := &agent{dir: os.Args[1], in: bufio.NewReader(os.Stdin)}
	if slices.Equal(os.Args[2:], []string{"child"}) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		a.put("child."+os.Getenv("AGENT_RUN"), strconv.Itoa(os.Getpid())+"\n")
		a.hang()
	}
	a.count()
	a.put("pid."+strconv.Itoa(a.run), strconv.Itoa(os.Getpid())+"\n")
	for _, step := range stepsOf(os.Args[2:], a.run) {
		name, arg, _ := strings.Cut(step, "=")
		a.do(name, arg)
	}
}

// stepsOf returns the steps of the nth run.
func stepsOf(args []string, n int) []string {
	for {
		at := slices.Index(args, "/")
		switch {
		case at < 0:
			return args
		case n == 1:
			return args[:at]
		}
		args, n = args[at+1:], n-1
	}
}

func (a *agent) do(name, arg string) {
	switch name {
	case "read":
		a.read()
	case "line":
		line, err := a.in.ReadBytes('\n')
		fail(err)
		a.got(bytes.TrimRight(line, "\n"))
	case "echo":
		a.echo()
	case "say":
		fmt.Fprintln(os.Stdout, strings.ReplaceAll(arg, "_", " "))
	case "part":
		fmt.Fprint(os.Stdout, strings.ReplaceAll(arg, "_", " "))
	case "ignore":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	case "fork":
		a.fork()
	case "alt":
		fmt.Fprint(os.Stdout, "\x1b[?1049h\x1b[?25l")
	case "wait":
		for !a.has(arg) {
			<-time.After(5 * time.Millisecond)
		}
	case "tick":
		d, err := time.ParseDuration(arg)
		fail(err)
		for range time.Tick(d) {
			fmt.Fprint(os.Stdout, ".")
		}
	case "hang":
		a.hang()
	case "exit":
		os.Exit(number(arg))
	case "die":
		fail(syscall.Kill(os.Getpid(), syscall.Signal(number(arg))))
		a.hang()
	default:
		fail(fmt.Errorf("unknown step %q", name))
	}
}

// read reads as a program in raw mode does, until Enter comes by itself.
func (a *agent) read() {
	before, err := term.MakeRaw(0)
	fail(err)
	fmt.Fprint(os.Stdout, "\x1b[?2004h\r\n> ")
	var text []byte
	for {
		c, err := a.in.ReadByte()
		fail(err)
		if c == '\r' && !bytes.Contains(text, []byte("\x1b[200~")) {
			break
		}
		text = append(text, c)
		if paste, ok := bytes.CutSuffix(text, []byte("\x1b[201~")); ok {
			text = bytes.Replace(paste, []byte("\x1b[200~"), nil, 1)
		}
	}
	fmt.Fprint(os.Stdout, "\x1b[?2004l\r\n")
	fail(term.Restore(0, before))
	a.got(text)
}

func (a *agent) got(text []byte) {
	a.text = text
	a.put("prompt."+strconv.Itoa(a.run), string(text))
}

// echo shows the text in a box of 20 columns, and twice, as when it is drawn again.
func (a *agent) echo() {
	for range 2 {
		for line := range strings.Lines(string(a.text)) {
			width := 0
			fmt.Fprint(os.Stdout, "│ ")
			for _, word := range strings.Fields(line) {
				if width += len(word) + 1; width > 20 {
					fmt.Fprint(os.Stdout, "\r\n│ ")
					width = len(word) + 1
				}
				fmt.Fprintf(os.Stdout, "\x1b[1m%s\x1b[0m ", word)
			}
			fmt.Fprint(os.Stdout, "\r\n")
		}
	}
}

func (a *agent) fork() {
	self, err := os.Executable()
	fail(err)
	cmd := exec.Command(self, a.dir, "child")
	cmd.Env = append(os.Environ(), "AGENT_RUN="+strconv.Itoa(a.run))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	fail(cmd.Start())
	for !a.has("child." + strconv.Itoa(a.run)) {
		<-time.After(5 * time.Millisecond)
	}
}

// hang returns never; an empty select would be a deadlock to the runtime.
func (a *agent) hang() {
	for range time.Tick(time.Hour) {
	}
}

// count sets the number of this run.
func (a *agent) count() {
	b, err := os.ReadFile(filepath.Join(a.dir, "runs"))
	if err == nil {
		a.run = number(strings.TrimSpace(string(b)))
	}
	a.run++
	a.put("runs", strconv.Itoa(a.run)+"\n")
}

// put replaces a file, so that no reader sees half of it.
func (a *agent) put(name, text string) {
	tmp := filepath.Join(a.dir, fmt.Sprintf("%s.tmp%d", name, os.Getpid()))
	fail(os.WriteFile(tmp, []byte(text), 0o600))
	fail(os.Rename(tmp, filepath.Join(a.dir, name)))
}

func (a *agent) has(name string) bool {
	_, err := os.Stat(filepath.Join(a.dir, name))
	return err == nil
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	fail(err)
	return n
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(99)
	}
}
