package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docsRunElsewhere are command lines of the docs that need what the scripts have not.
var docsRunElsewhere = map[string]string{
	"swarm spawn --name fix --worktree -- claude":                                                         "workspace_copy: it needs an agent",
	"swarm spawn --name docs --workspace copy -- make docs":                                               "workspace_copy: it needs a Makefile",
	"swarm spawn --name docs --workspace copy --workspace-option exclude=node_modules,build -- make docs": "workspace_copy: it needs a Makefile",
	"swarm spawn --backend nomad --name build --env TOKEN=x -- make -C /src all":                          "nomad/verbs: it needs a cluster",
	"swarm kill build": "nomad/verbs: its worker is on a cluster",
	"swarm spawn --backend container --name web --option image=busybox -- httpd -f -v -p 8080": "container/verbs: it needs an engine",
	"swarm status web": "container/verbs: its worker is in a container",
	"swarm kill web":   "container/verbs: its worker is in a container",
	"swarm spawn --backend container --name web --option image=busybox --option network=host -- httpd -f -v -p 127.0.0.1:8080 -h /etc": "container/verbs: it needs an engine",
	"swarm logs web":  "container/verbs: its worker is in a container",
	"swarm stats web": "container/verbs: its worker is in a container",
	"swarm spawn --backend container --name build --worktree --option image=busybox --option network=none --option mount=/usr/local/go:ro --env CGO_ENABLED=0 --env GOCACHE=/tmp/cache --env PATH=/usr/local/go/bin:/bin -- sh -c 'go build -o hello . && ls -ln hello && ./hello && id'": "container/worktree: it needs an engine",
	"swarm diff build --stat":         "container/worktree: its worker is in a container",
	"swarm clean build --force-dirty": "container/worktree: its worker is in a container",
	"swarm spawn --backend container --name fix --worktree --option image=agents --option network=none -- claude": "container/worktree: it needs an engine",
	"swarm spawn --backend ssh --name build --option host=devbox -- make -C src all":                              "ssh/ssh_cut: it needs a host",
	"swarm status build": "ssh/ssh_cut: its worker is on a host",
	"swarm wait build":   "ssh/ssh_cut: its worker is on a host",
	"swarm agent spawn --team web --name alice --backend container --worktree -- claude":                       "container/mcp: it needs an engine",
	"swarm spawn --backend ssh --option host=devbox --name fix --cwd /home/ann/shop --worktree -- ./fix-login": "ssh/ssh_worktree: it needs a host",
	"swarm status fix":                  "ssh/ssh_worktree: its worker is on a host",
	"swarm kill fix --rm-worktree":      "ssh/ssh_worktree: its worker is on a host",
	"swarm clean fix --force-dirty":     "ssh/ssh_worktree: its worker is on a host",
	"swarm adopt --backend nomad --all": "nomad/adopt: it needs a cluster",
	"swarm ralph spawn --name agent --backend nomad --prompt-file PROMPT.md --ready-pattern '>' -- my-agent": "nomad/ralph: it needs a cluster",
}

// TestEveryCommandOfTheDocsIsRun fails if a page shows a command line of swarm that no
// script runs word by word.
func TestEveryCommandOfTheDocsIsRun(t *testing.T) {
	t.Parallel()
	ran := scriptLines(t)
	shown := map[string]bool{}
	for _, page := range docPages(t) {
		for _, example := range readExamples(t, page) {
			command := squeeze(example.command)
			if !callsSwarm.MatchString(command) {
				continue
			}
			shown[command] = true
			if docsRunElsewhere[command] == "" && !strings.Contains(ran, "\n"+command+"\n") {
				t.Errorf("%s: no script runs: %s", page, command)
			}
		}
	}
	if len(shown) < 80 {
		t.Errorf("found only %d command lines in the docs", len(shown))
	}
	for command := range docsRunElsewhere {
		if !shown[command] {
			t.Errorf("no page shows any longer: %s", command)
		}
	}
}

// callsSwarm matches a command line in which swarm is a command.
var callsSwarm = regexp.MustCompile(`(^|[;|&(] ?|-- )swarm `)

// scriptLines returns all lines of the scripts that run examples.
func scriptLines(t *testing.T) string {
	t.Helper()
	var ran strings.Builder
	for _, pattern := range []string{"testdata/script/docs_*.txtar", "testdata/script/examples_of_*.txtar"} {
		scripts, err := filepath.Glob(pattern)
		if err != nil || len(scripts) == 0 {
			t.Fatalf("no scripts %s: %v", pattern, err)
		}
		for _, script := range scripts {
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			ran.WriteString("\n" + squeeze(runInBackground.ReplaceAllString(string(text), "")) + "\n")
		}
	}
	return ran.String()
}

// runInBackground matches what a script adds to a command that does not end by itself.
var runInBackground = regexp.MustCompile(`(?m) > \w+( 2>&1)? &$`)

// docPages returns README.md and every page below docs.
func docPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func readExamples(t *testing.T, page string) []example {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return examples(string(text))
}

// An example is a command line of a page with what the page shows of its output.
type example struct {
	command string
	output  []string
}

var (
	// A prompt may say who types.
	prompt    = regexp.MustCompile(`^[a-z]*\$ (.*)`)
	hereDoc   = regexp.MustCompile(`<<'(\w+)'`)
	remark    = regexp.MustCompile(`    +# .*`)
	ofAShell  = []string{"", "sh", "console", "bash", "shell"}
	noCommand = regexp.MustCompile(`[^\x00-\x7f]`)
)

// examples returns the command lines of the fenced code blocks of a page. In a block
// with prompts these are the lines behind them; in one without prompts it is every line,
// unless the block is a drawing.
func examples(page string) []example {
	var all []example
	var block []string
	language, inside := "", false
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		fence, fenced := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case !fenced && inside:
			block = append(block, line)
		case fenced && inside:
			if slices.Contains(ofAShell, language) {
				all = append(all, blockExamples(block)...)
			}
			inside = false
		case fenced:
			language, inside, block = fence, true, nil
		}
	}
	return all
}

func blockExamples(block []string) []example {
	prompted := slices.ContainsFunc(block, prompt.MatchString)
	if !prompted && slices.ContainsFunc(block, noCommand.MatchString) {
		return nil
	}
	var all []example
	for len(block) > 0 {
		line := block[0]
		block = block[1:]
		if prompted {
			match := prompt.FindStringSubmatch(line)
			if match == nil {
				if len(all) > 0 {
					last := &all[len(all)-1]
					last.output = append(last.output, line)
				}
				continue
			}
			line = match[1]
		}
		for len(block) > 0 && unfinished(line) {
			line += "\n" + block[0]
			block = block[1:]
		}
		all = append(all, example{command: remark.ReplaceAllString(line, "")})
	}
	return all
}

// unfinished reports whether a command continues in the next line.
func unfinished(command string) bool {
	if here := hereDoc.FindStringSubmatch(command); here != nil {
		return !strings.HasSuffix(command, "\n"+here[1])
	}
	return strings.HasSuffix(command, `\`) || strings.Count(command, "'")%2 == 1
}

// squeeze joins continued lines and removes the blanks that only make lines look good.
func squeeze(text string) string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func TestExamplesOfAPage(t *testing.T) {
	t.Parallel()
	page := "```\n$ swarm ls\nNAME\nann$ swarm send w 'a\nb'\nsent\n```\n```toml\nswarm x\n```\n" +
		"```sh\nswarm up    # go\nclaude -- \\\n  swarm mcp\n```\n```\nswarm ──▶ shim\n```\n```\nswarm mcp <<'E'\nit's\nE\n```\n"
	var got []string
	for _, e := range examples(page) {
		got = append(got, squeeze(e.command)+" → "+strings.Join(e.output, "|"))
	}
	want := []string{"swarm ls → NAME", "swarm send w 'a\nb' → sent", "swarm up → ", "claude -- swarm mcp → ", "swarm mcp <<'E'\nit's\nE → "}
	if !slices.Equal(got, want) {
		t.Errorf("examples: %q, want %q", got, want)
	}
}
