package plugintest

import "fmt"

// Script is what a worker of a case does. A worker says a word by writing it as
// a line to the file that the variable PLUGINTEST_SAY names, or to its standard
// output if that is empty.
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
	// True ends at once with code 0.
	True Script = "true"
	// Crash ends by SIGSEGV.
	Crash Script = "crash"
	// Lines writes the lines "line 1" to "line 1000" and "last", without a
	// newline, and ends with code 3.
	Lines Script = "lines"
	// Say says the value of the variable PLUGINTEST_VALUE and runs.
	Say Script = "say"
	// Tree starts a child in its group, one in a session of its own, and one
	// whose parent is gone; says the numbers of all, in one line, and runs. For
	// local backends only.
	Tree Script = "tree"
	// Missing is no command at all.
	Missing Script = "missing"
)

const (
	sayVar   = "PLUGINTEST_SAY"
	valueVar = "PLUGINTEST_VALUE"
)

// say is the beginning of a shell script that says things.
const say = `say() { if [ -n "$` + sayVar + `" ]; then echo "$*" >"$` + sayVar + `"; else echo "$*"; fi; }; `

// forever runs until a signal comes: a shell handles its traps while it waits.
const forever = `while :; do sleep 60 & wait $!; done`

var shell = map[Script]string{
	Sleep: say + `say ready; exec sleep 3600`,
	// A signal that is ignored stays so in what is executed.
	Stubborn: say + `trap '' TERM HUP INT QUIT USR1 USR2; say ready; exec sleep 3600`,
	Deaf:     say + `trap 'say heard' TERM; say ready; ` + forever,
	Trap:     say + `trap 'kill $!; exit 7' USR1; say ready; ` + forever,
	True:     `exit 0`,
	Crash:    `kill -SEGV $$`,
	Lines:    `i=1; while [ $i -le 1000 ]; do echo "line $i"; i=$((i+1)); done; printf last; exit 3`,
	Say:      say + `say "$` + valueVar + `"; exec sleep 3600`,
	Tree: say + `sleep 3600 & a=$!; setsid sleep 3600 & b=$!; ` +
		`c=$(sleep 3600 >/dev/null 2>&1 & echo $!); say $$ $a $b $c; wait`,
}

// Shell returns the script as a command for a POSIX shell.
func Shell(s Script) []string {
	if s == Missing {
		return []string{"plugintest-no-such-command"}
	}
	text, ok := shell[s]
	if !ok {
		panic(fmt.Sprintf("plugintest: no script %q", s))
	}
	return []string{"sh", "-c", text}
}
