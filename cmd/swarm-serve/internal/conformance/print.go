package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/plugin/plugintest"
	"github.com/swarmhost/swarm/shared/safetext"
)

const nameWidth = 30

type printer struct {
	out     io.Writer
	target  string
	verbose bool
}

// result prints the row of one case, and below it the broken rule and the command that runs
// the case again.
func (p *printer) result(r plugintest.Result) {
	switch r.Outcome {
	case plugintest.Skipped, plugintest.NotRun:
		if p.verbose {
			fmt.Fprintf(p.out, "-     %-*s  %s\n", nameWidth, r.Name, safetext.Line(r.Why))
		}
		return
	case plugintest.OK:
		fmt.Fprintf(p.out, "ok    %-*s  %s\n", nameWidth, r.Name, took(r))
	default:
		fmt.Fprintf(p.out, "FAIL  %-*s  %s\n", nameWidth, r.Name, took(r))
		p.note("rule", r.Rule)
		for _, problem := range r.Problems {
			p.note("seen", problem)
		}
		p.note("again", fmt.Sprintf("swarm plugin check %s --run '^%s$' --verbose", safetext.Line(p.target), regexp.QuoteMeta(r.Name)))
	}
	if p.verbose {
		for _, line := range r.Log {
			p.note("log", line)
		}
	}
}

func (p *printer) note(what, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(p.out, "      %-5s %s\n", what, safetext.Block(strings.TrimRight(line, "\r\n")))
		what = ""
	}
}

func took(r plugintest.Result) string { return r.Took.Round(10 * time.Millisecond).String() }

func (p *printer) summary(e catalog.Entry, r plugintest.Report) error {
	what := fmt.Sprintf("plugin '%s'", e.Name)
	if info := r.Plugin; info.Kind != "" {
		what = strings.TrimSpace(fmt.Sprintf("plugin '%s' %s", info.Name, info.Version)) + fmt.Sprintf(" (%s)", info.Kind)
	}
	broken, notRun := r.Count(plugintest.Failed), r.Count(plugintest.NotRun)
	text := fmt.Sprintf("%d rules kept, %d broken, %d skipped", r.Count(plugintest.OK), broken, r.Count(plugintest.Skipped))
	if notRun > 0 {
		text += fmt.Sprintf(", %d not run", notRun)
	}
	if broken+notRun > 0 && r.Plugin.Kind == "" {
		text += "; the others were not checked"
	}
	_, err := fmt.Fprintf(p.out, "\n%s: %s\n", safetext.Line(what), text)
	return err
}

// reportJSON is a report for programs. Fields are only ever added.
type reportJSON struct {
	Path         string       `json:"path"`
	Name         string       `json:"name"`
	Version      *string      `json:"version"`
	Kind         *string      `json:"kind"`
	Contract     *int         `json:"contract"`
	Local        bool         `json:"local"`
	Capabilities []string     `json:"capabilities"`
	OK           int          `json:"ok"`
	Failed       int          `json:"failed"`
	Skipped      int          `json:"skipped"`
	NotRun       int          `json:"not_run"`
	Cases        []resultJSON `json:"cases"`
}

type resultJSON struct {
	Name     string   `json:"name"`
	Rule     string   `json:"rule"`
	Result   string   `json:"result"`
	Why      *string  `json:"why"`
	Problems []string `json:"problems"`
	Log      []string `json:"log"`
	Seconds  float64  `json:"seconds"`
}

func writeJSON(out io.Writer, e catalog.Entry, r plugintest.Report) error {
	report := reportJSON{
		Path: e.Path(), Name: e.Name,
		Version: orNull(r.Plugin.Version), Kind: orNull(string(r.Plugin.Kind)),
		Local: r.Plugin.Local, Capabilities: []string{},
		OK: r.Count(plugintest.OK), Failed: r.Count(plugintest.Failed), Skipped: r.Count(plugintest.Skipped),
		NotRun: r.Count(plugintest.NotRun),
		Cases:  []resultJSON{},
	}
	if r.Plugin.Contract != 0 {
		report.Contract = &r.Plugin.Contract
	}
	for _, c := range r.Plugin.Capabilities {
		report.Capabilities = append(report.Capabilities, string(c))
	}
	for _, c := range r.Results {
		report.Cases = append(report.Cases, resultJSON{
			Name: c.Name, Rule: c.Rule, Result: string(c.Outcome), Why: orNull(c.Why),
			Problems: append([]string{}, c.Problems...), Log: append([]string{}, c.Log...),
			Seconds: c.Took.Round(time.Millisecond).Seconds(),
		})
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	_, err = out.Write(append(safetext.JSON(text), '\n'))
	return err
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
