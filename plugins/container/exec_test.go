package container

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestExecutionArguments(t *testing.T) {
	t.Parallel()
	for _, o := range []swarm.ExecOptions{
		{Command: []string{"true"}},
		{Command: []string{"sh", "-c", "", "--"}, Dir: "a b", Env: []string{"A=", "B=two\nlines"}, TTY: true},
	} {
		want := execution{r: ref{Socket: "/s", Container: "c", Worker: "w"}, o: o}
		got, err := parseExecution(want.args())
		if err != nil || got.r != want.r || got.o.TTY != o.TTY || got.o.Dir != o.Dir || len(got.o.Env) != len(o.Env) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
		if diff := cmp.Diff(o.Command, got.o.Command); diff != "" {
			t.Error(diff)
		}
	}
	for _, args := range [][]string{nil, {"/s", "c", "w", "false", "", "1", "A=b"}, {"/s", "c", "w", "perhaps", "", "0", "ls"}, {"/s", "c", "w", "true", "", "-1", "ls"}} {
		if x, err := parseExecution(args); err == nil {
			t.Errorf("%q is %+v", args, x)
		}
	}
}

// TestRefusedCommands has the words of engines, and output of commands that is like them.
func TestRefusedCommands(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	for text, want := range map[string]int{
		"OCI runtime exec failed: exec failed: unable to start container process: exec: \"x\": executable file not found in $PATH: unknown\r\n":                  exitNotFound,
		"Error: runc: exec failed: unable to start container process: exec: \"/no/x\": stat /no/x: no such file or directory: OCI runtime attempted to invoke\n": exitNotFound,
		"crun: executable file `x` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found":                  exitNotFound,
		"OCI runtime exec failed: exec failed: unable to start container process: exec: \"/etc/passwd\": permission denied: unknown":                             exitNoStart,
		"OCI runtime exec failed: exec failed: unable to start container process: chdir to cwd (\"/no\") set in config.json failed: no such file or directory":   exitNoStart,
		"sh: x: not found": 0,
		"":                 0,
	} {
		x := execution{o: swarm.ExecOptions{Command: []string{"x"}}}
		err := x.refused(text, other)
		code := 0
		if not, ok := errors.AsType[*notRun](err); ok {
			code = not.code
		} else if !errors.Is(err, other) {
			t.Errorf("%q: %v", text, err)
		}
		if code != want {
			t.Errorf("%q: exit code %d, %v", text, code, err)
		}
	}
}
