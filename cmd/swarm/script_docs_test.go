package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// masks replace what differs from one run to the next, and from one machine to another.
var masks = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z?`), "TIME"},
	{regexp.MustCompile(`(^|[ '":])(/[^/\s]+)*/`), "$1/"},
	{regexp.MustCompile(`\b(swarm-)[0-9a-f]{8}\b`), "${1}ID"},
	{regexp.MustCompile(`\b(agent|bg)-[a-z0-9]{6}\b`), "$1-ID"},
	{regexp.MustCompile(`[0-9a-f]{12}…`), "HASH…"},
	{regexp.MustCompile(`\d+(ms|s|m|h)\b`), "AGE"},
	{regexp.MustCompile(`[ \t]+`), " "},
	{regexp.MustCompile(`\b(pid: |running )\d+`), "${1}N"},
	// A worker may have ended before the line is written.
	{regexp.MustCompile(`^(spawned \S+) \(pid: N\)$`), "$1"},
}

func masked(line string) string {
	line = strings.TrimSpace(line)
	for _, m := range masks {
		line = m.from.ReplaceAllString(line, m.to)
	}
	return line
}

// cmdPage is `page PAGE [RE…]`: what PAGE shows as output of swarm is in stdout, line by
// line, but for what differs between two runs. Lines that match RE are not looked for.
func cmdPage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: page PAGE [RE…]")
	}
	page, err := os.ReadFile(filepath.Join("../..", args[0]))
	ts.Check(err)
	var others []*regexp.Regexp
	for _, arg := range args[1:] {
		others = append(others, regexp.MustCompile(arg))
	}
	printed := map[string]bool{}
	var all strings.Builder
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		printed[masked(line)] = true
		all.WriteString("\n" + masked(line))
	}
	wrong, looked := false, 0
	for _, example := range examples(string(page)) {
		if !callsSwarm.MatchString(squeeze(example.command)) {
			continue
		}
		for _, line := range example.output {
			if line == "" || matchesAny(others, line) {
				continue
			}
			looked++
			begin, cut := strings.CutSuffix(masked(line), "…")
			if !printed[masked(line)] && (!cut || !strings.Contains(all.String(), "\n"+begin)) {
				ts.Logf("%s: '%s' does not print: %s", args[0], example.command, line)
				wrong = true
			}
		}
	}
	if wrong || looked == 0 {
		ts.Fatalf("%s shows what is not printed (%d lines looked for)", args[0], looked)
	}
}

func matchesAny(all []*regexp.Regexp, line string) bool {
	for _, re := range all {
		if re.MatchString(line) {
			return true
		}
	}
	return false
}
