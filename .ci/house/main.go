// Command house measures how easy the code is to find one's way in: how large its
// packages and files are, how they are named, and how plain its English is. It prints
// each measure next to its goal, and with -v each place that misses a goal.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	verbose := flag.Bool("v", false, "print each place that misses a goal")
	strict := flag.Bool("strict", false, "fail if a goal is missed")
	flag.Parse()
	missed, err := run(context.Background(), *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(2)
	}
	if missed > 0 && *strict {
		os.Exit(1)
	}
}

// measure is one line of the result.
type measure struct {
	name       string
	value, max int
	// note says which package or file the value belongs to.
	note string
	// places are what misses the goal, one line each.
	places []string
}

// run prints all measures of the repository around the working directory. It returns
// how many miss their goal.
func run(ctx context.Context, verbose bool) (missed int, err error) {
	sources, err := readSources(ctx)
	if err != nil {
		return 0, err
	}
	all, err := measureAll(sources)
	if err != nil {
		return 0, err
	}

	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MEASURE\tNOW\tGOAL\t\t")
	for _, m := range all {
		verdict := "ok"
		if m.value > m.max {
			verdict = "missed"
			missed++
		}
		fmt.Fprintf(table, "%s\t%d\t≤ %d\t%s\t%s\n", m.name, m.value, m.max, verdict, m.note)
	}
	if err := table.Flush(); err != nil {
		return missed, err
	}
	if verbose {
		for _, m := range all {
			if m.value > m.max && len(m.places) > 0 {
				fmt.Fprintf(os.Stdout, "\n%s:\n%s\n", m.name, strings.Join(m.places, "\n"))
			}
		}
	}
	return missed, nil
}

// measureAll takes all measures of the sources of a repository.
func measureAll(sources []source) ([]measure, error) {
	size, err := measureSize(sources)
	if err != nil {
		return nil, err
	}
	callbacks, err := measureCallbacks(sources)
	if err != nil {
		return nil, err
	}
	aliases, err := measureAliases(sources)
	if err != nil {
		return nil, err
	}
	gerunds, err := measureGerunds(sources)
	if err != nil {
		return nil, err
	}
	english, err := measureEnglish(sources)
	if err != nil {
		return nil, err
	}
	dialect, err := measureDialect(sources)
	if err != nil {
		return nil, err
	}
	return slices.Concat(
		size, callbacks, []measure{measureUntested(sources), aliases, measurePairs(sources)},
		gerunds, english, dialect,
	), nil
}

// repositoryFiles returns the paths of all files that git tracks.
func repositoryFiles(ctx context.Context) ([]string, error) {
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	if err := os.Chdir(string(bytes.TrimSpace(top))); err != nil {
		return nil, err
	}
	list, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of the repository: %w", err)
	}
	return strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00"), nil
}
