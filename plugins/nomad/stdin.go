package nomad

// A worker with a standard input reads a pipe. A feeder, a shell beside the worker that
// ends with it, writes to the pipe: an input is put into a file, and its name into the
// feeder's bell once the file is complete. So inputs arrive whole and one after the
// other, even if the host dies.

// stdinDir is the directory of these files, in the directory NOMAD_TASK_DIR.
const stdinDir = "swarm-stdin"

// withFeeder starts the feeder. It is not a child of the worker, which therefore does not
// wait for it.
const withFeeder = `d=$NOMAD_TASK_DIR/` + stdinDir + `
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

// The exits of give.
const (
	exitNoStdin = 90
	exitClosed  = 91
	exitCutOff  = 92
	exitPending = 93
	// exitKilled is what Nomad says of a program that SIGKILL ended, and exitUnknown of
	// one whose end it missed: its executor leaves with the worker.
	exitKilled  = 137
	exitUnknown = -2
)

// eof is the input that is the end of input.
const eof = "eof"

// give, run beside the worker, takes an input of so many bytes from its own standard
// input, or "eof", and waits a while for the worker to read it.
const give = `d=$NOMAD_TASK_DIR/` + stdinDir + `
umask 077
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
while [ -e "$f" ] && [ $i -lt 30 ]; do sleep 0.1; i=$((i+1)); done
[ ! -e "$f" ] || exit 93
`
