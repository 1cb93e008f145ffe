package container

import "slices"

// A worker with a standard input that is on no terminal reads a pipe. An engine can't end
// an input that several callers give, and does not keep them apart. So a feeder, a shell
// beside the worker that ends with it, writes to the pipe: an input is put into a file, and
// its name into the feeder's bell once the file is complete. So inputs arrive whole and one
// after the other, even if the host dies.

// stdinDir is the directory of these files in the container: in its memory.
const stdinDir = "/dev/shm/swarm-stdin"

// A wrapper is known by its $0.
const wrapper = "swarm-worker"

// feeds starts the feeder and becomes the worker. The feeder is not a child of the worker,
// which therefore does not wait for it.
const feeds = `d=` + stdinDir + `
refuse() { echo "swarm: $1" >&2; exit 127; }
command -v -- "$1" >/dev/null 2>&1 || refuse "there is no command '$1'"
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
exec "$@" <"$d/pipe"
`

func withStdin(command []string) []string {
	return append([]string{"sh", "-c", feeds, wrapper}, command...)
}

// hasStdin reports whether a command has a feeder.
func hasStdin(command []string) bool {
	return len(command) > 4 && slices.Equal(command[:4], []string{"sh", "-c", feeds, wrapper})
}

// The exits of give.
const (
	exitNoStdin = 90
	exitClosed  = 91
	exitCutOff  = 92
	exitPending = 93
)

// eof is the input that is the end of input.
const eof = "eof"

// give, run beside the worker, takes an input of so many bytes from its own standard
// input, or "eof", and waits a while for the worker to read it.
const give = `d=` + stdinDir + `
umask 077
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
f=$(mktemp "$d/in.XXXXXX") || exit
head -c "$1" >"$f"
if [ "$(wc -c <"$f")" -ne "$1" ]; then rm -f "$f"; exit 92; fi
echo "${f##*/}" >"$d/bell"
i=0
while [ -e "$f" ] && [ $i -lt 300 ]; do sleep 0.01; i=$((i+1)); done
[ ! -e "$f" ] || exit 93
`
