package verbs

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/swarmhost/swarm/plugins/process"
	"github.com/swarmhost/swarm/shared/swarm"
)

// maxRequest is the largest request: a host sends no larger one.
const maxRequest = 64 << 20

// command is one call of the program.
type command struct {
	name string
	verb verb
	in   io.Reader
	out  io.Writer

	json    bool
	request bool
	runDirs string
	args    []string
	// ids are the ids of the workers, in the order of the request, if there is no --request.
	ids []string

	// The flags of single verbs.
	signal, kind, since, stream string
	grace                       time.Duration
	tail                        int
	noForce, main, detach       bool
	stdin, transcript           bool
	enter, follow               bool

	// failed reports that the call failed for one of its workers.
	failed bool
}

// kinds are the kinds of input by the words of --kind.
var kinds = map[string]string{
	"text": "INPUT_KIND_UNSPECIFIED", "interrupt": "INPUT_KIND_INTERRUPT", "eof": "INPUT_KIND_EOF", "keys": "INPUT_KIND_KEYS",
}

// flags returns the flags of the verb.
func (c *command) flags(errs io.Writer) *pflag.FlagSet {
	f := pflag.NewFlagSet("swarm-shim "+c.name, pflag.ContinueOnError)
	f.SetOutput(errs)
	f.Usage = func() {
		fmt.Fprintf(errs, "usage: swarm-shim %s [FLAGS] %s\n%s.\n\n", c.name, c.verb.args, c.verb.help)
		f.PrintDefaults()
	}
	f.BoolVar(&c.json, "json", false, "print the answers as JSON, one on each line")
	f.BoolVar(&c.request, "request", false, "read the request as JSON from the standard input, and print the answers as JSON")
	f.StringVar(&c.runDirs, "run-dirs", "", "the directory that has the run directories now, for a --request")
	switch c.name {
	case "start":
		f.BoolVar(&c.stdin, "stdin", false, "keep the worker's standard input open for 'send'")
		f.BoolVar(&c.transcript, "transcript", false, "write the output to the file transcript as well")
	case "kill":
		f.StringVar(&c.signal, "signal", "", "the first signal (default SIGTERM)")
		f.DurationVar(&c.grace, "grace", swarm.DefaultGrace, "how long a worker may take to end")
		f.BoolVar(&c.noForce, "no-force", false, "do not send SIGKILL after the grace")
		f.BoolVar(&c.detach, "detach", false, "return once the kill is in progress")
		fallthrough
	case "signal":
		f.BoolVar(&c.main, "main", false, "send the signal to the main process only")
	case "send":
		f.StringVar(&c.kind, "kind", "text", "text, keys (their names are the input), interrupt or eof")
		f.BoolVar(&c.enter, "enter", false, "submit the text with Enter, or with a newline to a pipe")
	case "logs":
		f.BoolVar(&c.follow, "follow", false, "continue with new output until the worker has ended")
		f.IntVar(&c.tail, "tail", -1, "print only the last lines, this many (default all)")
		f.StringVar(&c.since, "since", "", "leave out what was written before this time, such as 2026-01-31T12:00:00Z")
		f.StringVar(&c.stream, "stream", "", "print only stdout or only stderr")
	}
	return f
}

func (c *command) parse(args []string, errs io.Writer) error {
	f := c.flags(errs)
	if err := f.Parse(args); err != nil {
		return err
	}
	c.args = f.Args()
	n, many := len(c.args), c.verb.method == "Status" || c.verb.method == "Kill" || c.verb.method == "Watch"
	_, known := kinds[c.kind]
	_, err := time.Parse(time.RFC3339Nano, c.since)
	switch {
	case c.request && n > 0:
		return fmt.Errorf("with --request there are no arguments, got '%s'", c.args[0])
	case c.request:
		c.json = true
		return nil
	case c.verb.args == "":
		return fmt.Errorf("%s takes its request from the standard input only: add --request", c.name)
	case c.name == "start" && (n < 2 || f.ArgsLenAtDash() != 1), c.name == "signal" && n != 2,
		many && (n < 1 || n > swarm.MaxBatch), c.name == "send" && n != 1, c.name == "logs" && n != 1:
		return fmt.Errorf("expected: swarm-shim %s %s", c.name, c.verb.args)
	case c.name == "send" && !known:
		return fmt.Errorf("--kind is '%s': expected text, keys, interrupt or eof", c.kind)
	case c.since != "" && err != nil:
		return fmt.Errorf("--since is '%s': expected a time such as 2026-01-31T12:00:00Z", c.since)
	}
	return nil
}

// message returns the request of the call as JSON.
func (c *command) message() ([]byte, error) {
	if c.request {
		return c.input(maxRequest)
	}
	m, err := c.fields()
	if err != nil {
		return nil, err
	}
	return json.Marshal(m)
}

func (c *command) input(most int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(c.in, int64(most)+1))
	if err == nil && len(b) > most {
		err = fmt.Errorf("the standard input is larger than %d bytes", most)
	}
	return b, err
}

// object is a message of the contract as JSON, by the names of its fields.
type object map[string]any

// fields returns the request that the flags and arguments describe.
func (c *command) fields() (object, error) {
	dirs, mode := c.args, "KILL_MODE_UNSPECIFIED"
	if c.main {
		mode = "KILL_MODE_MAIN"
	}
	switch c.name {
	case "start":
		dirs = nil
	case "signal":
		dirs = dirs[:1]
	}
	var handles, items []object
	for _, dir := range dirs {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		h, err := process.Handle(filepath.Base(dir), dir)
		if err != nil {
			return nil, err
		}
		c.ids = append(c.ids, filepath.Base(dir))
		handle := object{"version": h.Version, "data": h.Data}
		handles = append(handles, handle)
		items = append(items, object{"handle": handle, "options": object{
			"signal": c.signal, "grace": seconds(c.grace), "force": !c.noForce, "mode": mode, "detach": c.detach,
		}})
	}
	switch c.name {
	case "start":
		return c.spec()
	case "kill":
		return object{"items": items}, nil
	case "signal":
		return object{"handle": handles[0], "signal": c.args[1], "mode": mode}, nil
	case "send":
		m := object{"handle": handles[0], "kind": kinds[c.kind], "enter": c.enter}
		var err error
		if c.kind == "text" || c.kind == "keys" {
			m["data"], err = c.input(swarm.MaxInput)
		}
		return m, err
	case "logs":
		m := object{"handle": handles[0], "stream": c.stream, "follow": c.follow}
		if c.tail >= 0 {
			m["tail"] = c.tail
		}
		if c.since != "" {
			m["since"] = c.since
		}
		return m, nil
	}
	return object{"handles": handles}, nil
}

// seconds returns a duration as protobuf writes it in JSON.
func seconds(d time.Duration) string { return fmt.Sprintf("%.9fs", d.Seconds()) }

// spec describes a worker with the directory and the environment of this process.
func (c *command) spec() (object, error) {
	dir, err := filepath.Abs(c.args[0])
	if err != nil {
		return nil, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	id := filepath.Base(dir)
	c.ids = []string{id}
	return object{
		"id": id, "name": id, "command": byteses(c.args[1:]), "dir": []byte(wd),
		"env":   byteses([]string{swarm.EnvWorkerID + "=" + id}),
		"stdin": c.stdin, "transcript": c.transcript,
		"kill": object{"grace": seconds(swarm.DefaultGrace), "force": true},
		"local": object{
			"runDir": []byte(dir), "stateDir": []byte(filepath.Dir(dir)), "hostEnv": byteses(os.Environ()),
			"shim": []byte(filepath.Join(filepath.Dir(program), "swarm-shim")),
		},
	}, nil
}

// byteses returns texts that need not be UTF-8 as a message has them.
func byteses(texts []string) [][]byte {
	all := make([][]byte, len(texts))
	for i, text := range texts {
		all[i] = []byte(text)
	}
	return all
}
