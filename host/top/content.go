package top

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// tab is one of the things that are shown of a worker.
type tab string

const (
	tabScreen  tab = "Screen"
	tabLog     tab = "Log"
	tabDetails tab = "Details"
	tabDiff    tab = "Diff"
	tabHistory tab = "History"
)

// tabsOf returns the tabs of a worker, the first of which is shown if the person chose no other.
func tabsOf(i dash.Item) []tab {
	var tabs []tab
	if i.Where.Kind != "" {
		tabs = append(tabs, tabScreen)
	}
	tabs = append(tabs, tabLog, tabDetails)
	if i.Workspace != nil {
		tabs = append(tabs, tabDiff)
	}
	return append(tabs, tabHistory)
}

// entry is a paragraph of a tab. Its text is fit for a terminal.
type entry struct {
	label string
	text  string
	style style
	// head says that the label is a heading of its own.
	head bool
}

func detailEntries(f dash.Facts) []entry {
	var all []entry
	for _, fact := range f.Facts {
		for i, line := range fact.Lines {
			e := entry{text: line}
			if i == 0 {
				e.label = fact.Label
			}
			all = append(all, e)
		}
	}
	for i, p := range f.Processes {
		e := entry{text: fmt.Sprintf("%s%s  %d  %s  %s  %s", strings.Repeat("  ", p.Depth), p.Name, p.PID, p.State, p.CPU, p.Memory)}
		if i == 0 {
			all = append(all, entry{})
			e.label = "Processes"
		}
		all = append(all, e)
	}
	return all
}

// historyEntries returns events, the newest first.
func historyEntries(events []registry.Event) []entry {
	var all []entry
	day := ""
	for _, e := range slices.Backward(events) {
		at := e.Time.Local()
		if d := at.Format("Monday, 2 January 2006"); d != day {
			if day != "" {
				all = append(all, entry{})
			}
			all = append(all, entry{label: d, head: true})
			day = d
		}
		text := strings.ToLower(string(e.Kind))
		if e.Text != "" {
			text += ": " + e.Text
		}
		all = append(all, entry{label: at.Format("15:04:05"), text: safetext.Line(text), style: eventStyle(e)})
	}
	return all
}

func eventStyle(e registry.Event) style {
	switch tone := dash.ToneOf(e); tone {
	case condition.Bad, condition.Asking, condition.Waiting:
		return toned(tone)
	default:
		return normal
	}
}

// diffEntries returns the changed files and then the differences.
func diffEntries(c dash.Changes, name string) []entry {
	var all []entry
	for _, f := range c.Files {
		all = append(all, entry{text: safetext.Line(changeOf(f))})
	}
	for _, p := range c.Parts {
		all = append(all, entry{}, entry{text: p.Path, style: bold})
		if len(p.Notes) > 0 {
			all = append(all, entry{text: strings.Join(p.Notes, ", "), style: faint})
		}
		for _, l := range p.Lines {
			all = append(all, lineOf(l))
		}
	}
	if c.Cut {
		all = append(all, entry{}, entry{text: "There is more: swarm " + humane.Command([]string{"diff", safetext.Line(name)}), style: faint})
	}
	return all
}

// diffLooks are the first letters and the styles of lines of a difference.
var diffLooks = [...]struct {
	mark  string
	style style
}{dash.DiffSame: {" ", normal}, dash.DiffAdded: {"+", green}, dash.DiffRemoved: {"-", red}, dash.DiffPlace: {"", cyan}, dash.DiffRemark: {"", faint}}

func lineOf(l dash.DiffLine) entry {
	look := diffLooks[l.Kind]
	return entry{text: look.mark + strings.ReplaceAll(l.Text, "\t", "    "), style: look.style}
}

func (e entry) rows(width, labels int) []string {
	if e.head {
		return []string{faint.paint(rowsOf(e.label, width, 1)[0])}
	}
	if labels == 0 {
		rows := rowsOf(e.text, width, 0)
		for i := range rows {
			rows[i] = e.style.paint(rows[i])
		}
		return rows
	}
	var rows []string
	for i, row := range wrapped(e.text, max(8, width-labels-2), 0) {
		label := ""
		if i == 0 {
			label = e.label
		}
		rows = append(rows, faint.paint(theme{}.fit(label, labels))+"  "+e.style.paint(row))
	}
	return rows
}

func labelWidth(entries []entry) int {
	most := 0
	for _, e := range entries {
		if !e.head {
			most = max(most, widthOf(e.label))
		}
	}
	return most
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

func changeOf(f swarm.FileChange) string {
	if f.Added < 0 {
		return f.Path + "  binary"
	}
	return fmt.Sprintf("%s  +%d -%d", f.Path, f.Added, f.Removed)
}
