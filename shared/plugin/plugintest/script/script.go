// Package script has the programs of the workers with which a backend is tested, as commands for
// a POSIX shell.
//
// It is imported by the conformance kit for backends, and by tests of backends whose workers
// have no such shell.
package script

import "fmt"

// Script is the program of a worker in a case. To say a word is to write it as a line to the
// file that the variable [SayVar] names, or to the standard output if that is empty.
type Script string

// The scripts.
const (
	// Sleep says "ready" and runs until it is ended.
	Sleep Script = "sleep"
	// Stubborn ignores every signal that can be ignored, then says "ready" and
	// runs until it is ended by force.
	Stubborn Script = "stubborn"
	// Deaf says "ready" and runs until it is ended by force; at SIGTERM it says
	// "heard".
	Deaf Script = "deaf"
	// Trap ends with code 7 at SIGUSR1, says "ready" and runs.
	Trap Script = "trap"
	// Interrupt says "interrupted" at SIGINT and ends with code 5, says "ready" and
	// runs.
	Interrupt Script = "interrupt"
	// Echo says "ready", then "got x" for each line x of its standard input, and
	// "eof" at its end, and runs. It turns off the echo of a terminal.
	Echo Script = "echo"
	// Pair says "main" at SIGUSR1, and has a child in its group that says "child";
	// says "ready" once both run, and runs.
	Pair Script = "pair"
	// True ends at once with code 0.
	True Script = "true"
	// Fail says "ready" and ends with code 3.
	Fail Script = "fail"
	// Crash ends by SIGSEGV.
	Crash Script = "crash"
	// Lines writes the lines "line 1" to "line 1000" and "last", without a
	// newline, and ends with code 3.
	Lines Script = "lines"
	// Mixed writes the lines "line 1" to "line 100", those with an odd number to the
	// standard output and the others to the standard error, and ends with code 0.
	Mixed Script = "mixed"
	// Page says "ready", then writes the lines "line 1" to "line 100", and runs.
	Page Script = "page"
	// Say says the value of the variable [ValueVar] and runs.
	Say Script = "say"
	// Tree starts a child in its group, one in its own session, and one whose parent is
	// gone; says the pids of all processes in one line, and runs. For local backends only.
	Tree Script = "tree"
	// Spend says "ready", has a child that computes for a while, says "spent" once that
	// child has ended, and runs.
	Spend Script = "spend"
	// Hold has 24 MiB of memory, says "ready" and runs.
	Hold Script = "hold"
	// Touch makes the file that the variable [ValueVar] names; it says "written" on success,
	// "seen" if the file exists, and otherwise "refused", and runs.
	Touch Script = "touch"
	// Reach says "reached" if it finds the machine's service whose port is the value of the
	// variable [ValueVar], in upper-case hexadecimal digits, and otherwise "alone", and
	// runs. For Linux only.
	Reach Script = "reach"
	// Listen listens on the port of 127.0.0.1 that is the value of the variable [ValueVar], says "ready" and
	// runs. A moment later it accepts connections: it sends back what arrives, at once, and "end" after the
	// end of that. It says "unable" if it finds neither perl nor the nc of busybox.
	Listen Script = "listen"
	// Missing stands for a command that does not exist.
	Missing Script = "missing"
)

// The variables of a worker that its script reads.
const (
	// SayVar names the file to which a worker writes its words; empty: the standard output.
	SayVar = "PLUGINTEST_SAY"
	// ValueVar holds a value that some scripts need.
	ValueVar = "PLUGINTEST_VALUE"
)

// say is the beginning of a shell script: a function that writes a line.
const say = `say() { if [ -n "$` + SayVar + `" ]; then echo "$*" >"$` + SayVar + `"; else echo "$*"; fi; }; `

// forever runs until a signal comes: a shell handles its traps while it waits.
const forever = `while :; do sleep 60 & wait $!; done`

// listen is a program in Perl that listens, with a process for each connection.
const listen = `socket(S, PF_INET, SOCK_STREAM, 0) && setsockopt(S, SOL_SOCKET, SO_REUSEADDR, 1) && ` +
	`bind(S, sockaddr_in($ARGV[0], INADDR_LOOPBACK)) && listen(S, 8) or die $!; $SIG{CHLD} = "IGNORE"; ` +
	`while (accept(C, S)) { if (fork) { close C; next } open STDIN, "<&C"; open STDOUT, ">&C"; close C; close S; exec @ARGV[1..$#ARGV] }`

var shell = map[Script]string{
	Sleep: say + `say ready; exec sleep 3600`,
	// An ignored signal stays ignored across exec.
	Stubborn: say + `trap '' TERM HUP INT QUIT USR1 USR2; say ready; exec sleep 3600`,
	Deaf:     say + `trap 'say heard' TERM; say ready; ` + forever,
	Trap:     say + `trap 'kill $!; exit 7' USR1; say ready; ` + forever,
	// The child of a shell without job control ignores SIGINT: it has to be killed.
	Interrupt: say + `trap 'kill $!; say interrupted; exit 5' INT; say ready; ` + forever,
	Echo: say + `stty -echo 2>/dev/null; say ready; while IFS= read -r line; do say "got $line"; done; ` +
		`say eof; exec sleep 3600`,
	Pair: say + `sh -c '` + say + `trap "say child" USR1; say child ready; ` + forever + `' & ` +
		`trap 'say main' USR1; say ready; ` + forever,
	True:  `exit 0`,
	Fail:  say + `say ready; exit 3`,
	Page:  say + `say ready; i=1; while [ $i -le 100 ]; do echo "line $i"; i=$((i+1)); done; exec sleep 3600`,
	Mixed: `i=1; while [ $i -le 100 ]; do echo "line $i"; echo "line $((i+1))" >&2; i=$((i+2)); done`,
	Crash: `kill -SEGV $$`,
	Lines: `i=1; while [ $i -le 1000 ]; do echo "line $i"; i=$((i+1)); done; printf last; exit 3`,
	Spend: say + `say ready; (i=0; while [ $i -lt 250000 ]; do i=$((i+1)); done); say spent; ` + forever,
	// A fork shares the memory until its exec: that has ended when it says "ready".
	Hold: say + `x=$(dd if=/dev/zero bs=1048576 count=24 2>/dev/null | tr '\000' x); sleep 3600 & sleep 1; say ready; wait $!`,
	Say:  say + `say "$` + ValueVar + `"; exec sleep 3600`,
	Touch: say + `if [ -e "$` + ValueVar + `" ]; then say seen; elif (: >"$` + ValueVar + `") 2>/dev/null; then say written; ` +
		`else say refused; fi; exec sleep 3600`,
	Reach: say + `if grep -q ":$` + ValueVar + ` 00000000:0000 0A" /proc/net/tcp; then say reached; else say alone; fi; exec sleep 3600`,
	Listen: say + `set -- "$` + ValueVar + `" sh -c 'cat; printf end'; ` +
		`if command -v perl >/dev/null; then say ready; exec perl -MSocket -e '` + listen + `' "$@"; fi; ` +
		`if nc --help 2>&1 | grep -q BusyBox; then say ready; port=$1; shift; exec nc -ll -p "$port" 127.0.0.1 -e "$@"; fi; ` +
		`say unable; exec sleep 3600`,
	// The child in its own session says the pids: it is in that session then. macOS has no
	// setsid, and no such child.
	Tree: say + `sleep 3600 & a=$!; c=$(sleep 3600 >/dev/null 2>&1 & echo $!); ` +
		`if command -v setsid >/dev/null; then setsid sh -c '` + say + `say $0 $1 $$ $2; exec sleep 3600' $$ $a $c & ` +
		`else say $$ $a $a $c; fi; wait`,
}

// Shell returns the script as a command for a POSIX shell.
func Shell(s Script) []string {
	if s == Missing {
		return []string{"plugintest-no-such-command"}
	}
	text, ok := shell[s]
	if !ok {
		panic(fmt.Sprintf("script: no script %q", s))
	}
	return []string{"sh", "-c", text}
}
