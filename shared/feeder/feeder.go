// Package feeder gives standard input to workers of engines that can only run programs
// next to them, such as those of containers and clusters. Such an engine can't end an input
// that several callers give, and does not keep them apart.
//
// The worker reads a pipe. A feeder, a shell next to the worker that ends with it, writes
// to the pipe: an input is put into a file, and its name into the feeder's bell once the
// file is complete. So inputs arrive whole and one after the other, even if a host dies.
// It needs sh, mkfifo, mktemp, head, wc and cat.
//
// It is imported by plugins.
package feeder

import (
	"fmt"
	"strconv"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Feeder is where a feeder has its files: a directory in which no one else has any. It is
// part of a shell command, which may name variables; it must hold no blanks.
type Feeder string

// Start returns the beginning of a shell command that starts the feeder. Its end is
// [Exec]. It calls the shell's function refuse, which must not return, with why it can't.
// The feeder is not a child of the worker, which therefore does not wait for it.
func (f Feeder) Start() string {
	return `d=` + string(f) + `
feed() {
  exec 3>"$d/pipe"
  while IFS= read -r f <&4; do
    [ "$f" != eof ] || break
    cat "$d/$f" >&3 || break
    rm -f "$d/$f"
  done
  : >"$d/closed"
  rm -f "$d"/in.*
}
(umask 077; mkdir -p "$d" && mkfifo "$d/pipe" "$d/bell") || refuse "can't make a pipe for its input"
(
  trap '' HUP INT QUIT TERM USR1 USR2
  exec 4<>"$d/bell"
  feed </dev/null >/dev/null 2>&1 &
)
`
}

// Exec becomes the worker, whose command is the arguments of the shell.
const Exec = `exec "$@" <"$d/pipe"
`

// The exits of the program that gives an input.
const (
	exitNoStdin = 90
	exitClosed  = 91
	exitCutOff  = 92
	exitPending = 93
)

// give runs next to the worker. It passes on $1 bytes from its own standard input, or the end
// of input, and waits a while for the worker to read it.
const give = `umask 077
i=0
while [ ! -p "$d/bell" ] && [ $i -lt 20 ]; do sleep 0.1; i=$((i+1)); done
[ -p "$d/bell" ] || exit 90
[ ! -e "$d/closed" ] || exit 91
if [ "$1" = eof ]; then
  echo eof >"$d/bell"
  i=0
  while [ ! -e "$d/closed" ] && [ $i -lt 30 ]; do sleep 0.1; i=$((i+1)); done
  [ -e "$d/closed" ] || exit 93
  exit 0
fi
f=$(mktemp "$d/in.XXXXXXXX") || exit
head -c "$1" >"$f"
if [ "$(wc -c <"$f")" -ne "$1" ]; then rm -f "$f"; exit 92; fi
echo "${f##*/}" >"$d/bell"
i=0
while [ -e "$f" ] && [ $i -lt 300 ]; do sleep 0.01; i=$((i+1)); done
[ ! -e "$f" ] || exit 93
`

// Give returns a command to run next to the worker. It reads size bytes from its own standard
// input and gives them to the worker; a size of -1 gives the end of input. [Outcome]
// interprets its exit.
func (f Feeder) Give(size int) []string {
	what := "eof"
	if size >= 0 {
		what = strconv.Itoa(size)
	}
	return []string{"sh", "-c", "d=" + string(f) + "\n" + give, "swarm-input", what}
}

// Unknown is an exit that the engine missed. When a worker ends, the engine ends the program
// next to it, or loses track of it.
const Unknown = -1

// exitKilled is what engines report for a program that SIGKILL ended.
const exitKilled = 128 + 9

// Outcome returns the result of an input of that size from the exit of the command of
// [Feeder.Give]. If the engine ended that command or missed its exit, it calls ended, which
// waits a moment for the worker's end. said is the output of the command in one line.
func Outcome(size, code int, said string, ended func() bool) (swarm.InputResult, error) {
	switch code {
	case 0:
		return swarm.InputResult{}, nil
	case exitKilled, Unknown:
		switch over := ended(); {
		case size < 0:
			// The end of its input may have ended the worker.
			return swarm.InputResult{Pending: !over}, nil
		case over:
			return swarm.InputResult{}, ErrEnded()
		default:
			return swarm.InputResult{}, fmt.Errorf("%w: the engine ended the program that gives the input: the worker may or may not have got it", swarm.ErrUnavailable)
		}
	case exitPending:
		return swarm.InputResult{Pending: true}, nil
	case exitNoStdin:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has not opened its standard input yet", swarm.ErrUnavailable)
	case exitClosed:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker's standard input is closed", swarm.ErrInvalidSpec)
	case exitCutOff:
		return swarm.InputResult{}, fmt.Errorf("%w: the connection to the engine was cut off, nothing was given", swarm.ErrUnavailable)
	default:
		return swarm.InputResult{}, fmt.Errorf("%w: give input: exit %d: %s", swarm.ErrUnavailable, code, said)
	}
}

// ErrEnded is the error of an input for a worker that has ended.
func ErrEnded() error { return fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound) }
