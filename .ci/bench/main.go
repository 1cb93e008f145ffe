// Command bench measures what swarm costs, against the least that a go-plugin
// host can cost (the floor), what the operating system takes for the same work,
// and supervisorctl and pm2 where they are installed. Everything is built by it,
// runs side by side in one run, in a scratch directory and on a tmux server of
// its own, and is gone afterwards. It prints the budgets of the design and
// whether they are kept.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

type options struct {
	runs, workers, crowd, others int
	steady                       time.Duration
	only                         string
	bin                          string
}

func main() {
	var o options
	flag.IntVar(&o.runs, "runs", 40, "how often to run what takes milliseconds")
	flag.IntVar(&o.workers, "workers", 1000, "how many workers to list")
	flag.IntVar(&o.crowd, "crowd", 200, "how many workers to kill at once")
	flag.IntVar(&o.others, "others", 3000, "how many other workers there are next to one that is spawned and killed")
	flag.DurationVar(&o.steady, "steady", 10*time.Minute, "how long one worker writes without a pause")
	flag.StringVar(&o.only, "only", "", "measure only these rows, separated by commas")
	flag.StringVar(&o.bin, "bin", "", "measure the programs in this directory instead of building them")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// group is a set of rows that are measured together.
type group struct {
	name    string
	measure func(context.Context, *world, options) ([]row, error)
}

var groups = []group{
	{"query", query},
	{"kill", kill},
	{"spawn", spawn},
	{"shim", shim},
	{"shims", shims},
	{"throughput", throughput},
	{"crowd", crowd},
	{"stubborn", stubborn},
	{"neighbours", neighbours},
	{"list", list},
	{"stats", measureMany},
	{"web", pages},
	{"top", idleTop},
	{"peers", peers},
}

func run(o options) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	w, err := newWorld(ctx, o.bin)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := w.close(context.WithoutCancel(ctx)); err == nil {
			err = cerr
		}
	}()
	if busy, err := load(); err == nil && busy > 0.5*float64(runtime.NumCPU()) {
		fmt.Fprintf(os.Stderr, "note: the machine is busy (load %.1f on %d processors), which hits what starts more processes harder than the floor\n", busy, runtime.NumCPU())
	}
	var rows []row
	for _, g := range groups {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), g.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s …\n", g.name)
		began := time.Now()
		measured, err := g.measure(ctx, w, o)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		fmt.Fprintf(os.Stderr, "  %v\n", time.Since(began).Round(time.Second))
		rows = append(rows, measured...)
	}
	if printed := printTable(os.Stdout, rows); printed > 0 {
		return fmt.Errorf("%d over budget", printed)
	}
	return nil
}

// load is the load average of the last minute, on Linux.
func load() (average float64, err error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(string(text), &average)
	return average, err
}
