package rundir

import (
	"errors"
	"strings"
)

// EnvHangUp is the variable with which the program of [ExecArgs] also ends when no process reads its
// output any more, as when the connection to another machine ends.
const EnvHangUp = "SWARM_EXEC_HANGUP"

// execVersion opens the message of an exec.
const execVersion = "swarm-exec=1"

// Exec is what follows the request of an exec.
type Exec struct {
	// Dir is where the command runs, relative to the worker's directory or absolute; empty
	// is the worker's directory.
	Dir     string
	Command []string
	// Env are variables, KEY=VALUE, in addition to those of the worker.
	Env []string
	// Terminal says that the descriptors are a terminal, which becomes the command's own.
	Terminal bool
}

// NotFound begins the error of a command that does not exist.
const NotFound = "command not found: "

// ExecArg is the first argument of swarm-shim as the program that runs in the place of the host:
// it has the shim of a worker run a command, and exits as that does, see [ExecArgs].
const ExecArg = "exec"

var errExec = errors.New("damaged message of an exec")

var execFields = []field[Exec]{
	optional("", textField("dir", func(e *Exec) *string { return &e.Dir })),
	optional("0", flagField("terminal", func(e *Exec) *bool { return &e.Terminal })),
	listField("env", func(e *Exec) *[]string { return &e.Env }),
	listField("arg", func(e *Exec) *[]string { return &e.Command }),
}

// EncodeExec returns a message of the same format as that of [EncodeLaunch].
func EncodeExec(e Exec) ([]byte, error) { return encodeFields(execVersion, execFields, &e) }

// ExecArgs returns the arguments of swarm-shim that run a command in the worker with an id and a run
// directory. The last ones are the entries of the message.
func ExecArgs(dir, id string, e Exec) ([]string, error) {
	b, err := EncodeExec(e)
	if err != nil {
		return nil, err
	}
	return append([]string{ExecArg, dir, id}, strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")...), nil
}

// ParseExecArgs reads what [ExecArgs] returned, and returns the message as well.
func ParseExecArgs(args []string) (dir, id string, e Exec, message []byte, err error) {
	if len(args) < 4 || args[0] != ExecArg {
		return "", "", Exec{}, nil, errExec
	}
	message = []byte(strings.Join(args[3:], "\x00") + "\x00")
	e, err = DecodeExec(message)
	return args[1], args[2], e, message, err
}

// DecodeExec reads what [EncodeExec] wrote.
func DecodeExec(b []byte) (Exec, error) {
	var e Exec
	if !decodeFields(b, execVersion, execFields, &e) || len(e.Command) == 0 {
		return Exec{}, errExec
	}
	return e, nil
}
