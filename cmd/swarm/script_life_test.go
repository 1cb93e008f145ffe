package main_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// finalEvent is a line of the history that reports how a worker ended.
var finalEvent = regexp.MustCompile(`(?m)^\[([^]]*)\] ((?:COMPLETE|EXITED|FAILED|DIED|KILLED)\b.*)$`)

// cmdFinals compares all final events of a worker, of all its incarnations. With
// "-" for the worker it is those of all workers, and their names come first.
func cmdFinals(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 1, "finals WORKER TEXT…")
	line := []string{"swarm", "events"}
	if args[0] != "-" {
		line = append(line, "--worker", args[0])
	}
	if code := run(ts, line); code != 0 {
		ts.Fatalf("exit code %d", code)
	}
	got := []string{}
	for _, m := range finalEvent.FindAllStringSubmatch(ts.ReadFile("stdout"), -1) {
		if args[0] == "-" {
			m[2] = m[1] + " " + m[2]
		}
		got = append(got, m[2])
	}
	if want := args[1:]; !slices.Equal(got, want) {
		ts.Fatalf("final events:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// cmdIdle looks at the processor time of living processes twice. One that ends
// between the looks does not count, one that begins counts with all that it took.
func cmdIdle(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) == 3, "[!] idle D MAX RE")
	within, err := time.ParseDuration(args[0])
	ts.Check(err)
	most, err := time.ParseDuration(args[1])
	ts.Check(err)
	match := pattern(ts, args[2])
	took := func() map[int]time.Duration {
		times := make(map[int]time.Duration)
		for _, p := range worldOf(ts).processes(func(p process) bool { return match.MatchString(p.command) }) {
			times[p.pid] = cpuTime(p.pid)
		}
		return times
	}
	before := took()
	<-time.After(within)
	var sum time.Duration
	for pid, t := range took() {
		sum += t - before[pid]
	}
	if (sum <= most) == neg {
		ts.Fatalf("took %v of processor time within %v", sum, within)
	}
}

// cmdAsleep counts how often the processes gave up the processor, which a process
// does once or more each time that it was woken.
func cmdAsleep(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 3, "asleep D N RE")
	within, err := time.ParseDuration(args[0])
	ts.Check(err)
	most, err := strconv.Atoi(args[1])
	ts.Check(err)
	match := pattern(ts, args[2])
	woke := func() (sum, processes int) {
		for _, p := range worldOf(ts).processes(func(p process) bool { return match.MatchString(p.command) }) {
			sum += switches(p.pid)
			processes++
		}
		return sum, processes
	}
	var times int
	for limit := time.Now().Add(eventually); time.Now().Before(limit); {
		before, was := woke()
		<-time.After(within)
		after, is := woke()
		if was == 0 || is != was {
			continue
		}
		if times = after - before; times <= most {
			return
		}
	}
	ts.Fatalf("woke %d times within %v", times, within)
}
