package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/rawjson"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ShowJSON is a worker as docs/show.schema.json describes it: the fields of a worker, and
// those that only show prints. Fields are only ever added, at the end.
type ShowJSON struct {
	WorkerJSON
	Environment []string          `json:"environment"`
	Options     map[string]string `json:"options"`
	Profile     *string           `json:"profile"`
	RunDir      *string           `json:"run_dir"`
	Log         *logJSON          `json:"log"`
	Processes   []treeJSON        `json:"processes"`
	Events      []pastJSON        `json:"events"`
	Lines       []string          `json:"lines"`
	Screen      bool              `json:"screen"`
	Stats       StatsJSON         `json:"stats"`
	Changes     *changesJSON      `json:"changes"`
}

type changesJSON struct {
	Files   int `json:"files"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Ahead and Behind are null if they are not known.
	Ahead  *int `json:"ahead"`
	Behind *int `json:"behind"`
}

type logJSON struct {
	Bytes        int64  `json:"bytes"`
	Limit        *int64 `json:"limit"`
	DroppedBytes int64  `json:"dropped_bytes"`
	DroppedLines int64  `json:"dropped_lines"`
}

type treeJSON struct {
	PID    int    `json:"pid"`
	Parent int    `json:"parent"`
	Name   string `json:"name"`
}

type pastJSON struct {
	Time *string `json:"time"`
	ID   string  `json:"id"`
	Kind string  `json:"kind"`
	Text *string `json:"text"`
}

func ShowJSONIn(a *app.App, d host.Details) ShowJSON {
	j := ShowJSON{
		WorkerJSON: WorkerJSONIn(a, d.Worker), Environment: environmentNames(d.Worker.Env), Options: map[string]string{},
		Profile: output.OrNull(d.Profile), RunDir: output.OrNull(d.RunDir),
		Processes: output.List(d.Processes, func(p proc.Process) treeJSON {
			return treeJSON{PID: p.PID, Parent: p.Parent, Name: p.Name}
		}),
		Events: output.List(d.Events, func(e registry.Event) pastJSON {
			return pastJSON{Time: output.TimeJSON(e.Time), ID: e.ID, Kind: string(e.Kind), Text: output.OrNull(e.Text)}
		}),
		Lines: append([]string{}, d.Lines...), Screen: d.Screen, Stats: StatsJSONOf(d.Figures),
		Changes: (*changesJSON)(d.Changes),
	}
	maps.Copy(j.Options, d.Worker.Options)
	if d.Log != nil {
		j.Log = &logJSON{
			Bytes: d.Log.Bytes, Limit: output.OrNull(d.Worker.OutputLimit),
			DroppedBytes: d.Log.DroppedBytes, DroppedLines: d.Log.DroppedLines,
		}
	}
	j.RawBytes = rawjson.Bytes(j)
	return j
}

func environmentNames(env []string) []string {
	names := []string{}
	for _, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Look says how a page is shown.
type Look struct {
	// Width is how wide lines may be; 0: as wide as they get.
	Width          int
	Colours, Plain bool
}

func (l Look) paint(s output.Style, text string) string {
	if !l.Colours {
		return text
	}
	return s.Paint(text)
}

type page struct {
	Look
	lines []string
	// key is the width of the column of keys.
	key int
}

// Page returns everything about a worker as lines for people.
func Page(look Look, d host.Details, now time.Time) []string {
	p := &page{Look: look, key: 11}
	w := d.Worker
	c := condition.Of(w)
	style := output.StyleOf(c.Kind.Tone())
	head := p.paint(style, c.Kind.Symbol(p.Plain)) + " " + p.paint(output.Bold, output.Visible(w.Name)) + "  " + p.paint(style, output.Visible(c.Text))
	head += p.paint(output.Faint, strings.TrimPrefix(c.Words(now), c.Text))
	if mark := c.RestartMark(p.Plain); mark != "" {
		head += " " + p.paint(output.StyleOf(condition.Waiting), mark)
	}
	p.lines = append(p.lines, head, "")
	p.about(d, now)
	p.dialog(w.State)
	p.life(w, now)
	p.files(d)
	p.use(d)
	p.tree(d)
	p.events(d, now)
	p.output(d)
	return p.lines
}

// field adds a line with a key. Long values continue in further lines; empty ones are left out.
func (p *page) field(key, value string) {
	if value == "" {
		return
	}
	for i, part := range output.Wrapped(output.Visible(value), p.Width-p.key-4) {
		if i > 0 {
			key = ""
		}
		p.lines = append(p.lines, "  "+p.paint(output.Faint, output.Padded(output.Visible(key), p.key))+"  "+part)
	}
}

func (p *page) heading(text string) {
	p.gap()
	p.lines = append(p.lines, p.paint(output.Faint, text))
}

func (p *page) gap() {
	if p.lines[len(p.lines)-1] != "" {
		p.lines = append(p.lines, "")
	}
}

func (p *page) about(d host.Details, now time.Time) {
	w := d.Worker
	p.field("Command", w.CommandLine())
	p.field("Directory", w.Dir)
	p.field("Environment", strings.Join(environmentNames(w.Env), " "))
	p.field("Backend", w.Backend)
	if w.Where.Name != "" {
		p.field(capital(w.Where.Kind), w.Where.Name)
	} else if missing := MissingPlace(w); missing != "" && !w.Gone() {
		p.field("Place", missing)
	}
	p.field("Details", placeDetails(w.Where, w.Options))
	p.field("Settings", pairs(w.Options))
	if w.Workspace != nil {
		p.field("Worktree", w.Workspace.Location())
		p.field("Branch", w.Workspace.Branch)
		if d.Changes != nil {
			p.field("Changes", changesText(w.Name, *d.Changes, p.Plain))
			p.field("Commits", distance(*d.Changes, "%d ahead", "%d behind", ", "))
		}
	}
	p.field("Tags", strings.Join(w.Tags, " "))
	if w.State != nil {
		p.field("Agent", strings.TrimSpace(w.State.Profile+": "+StateText(w.State, now)))
	} else {
		p.field("Profile", d.Profile)
	}
	p.field("Team", strings.TrimSpace(w.Team+" "+w.Agent))
	p.field("Project", w.Project)
	p.gap()
}

// dialog adds the whole of what an agent asks.
func (p *page) dialog(s *judgement.State) {
	lines := DialogLines(s)
	if len(lines) == 0 {
		return
	}
	p.heading("Asks")
	for _, line := range lines {
		for _, part := range output.Wrapped(line, p.Width-4) {
			p.lines = append(p.lines, "  "+p.paint(output.Faint, p.bar())+" "+part)
		}
	}
	p.gap()
}

// bar is before the lines of a screen.
func (p *page) bar() string {
	if p.Plain {
		return "|"
	}
	return "│"
}

// life adds when and how the worker began and ended, and what decides it.
func (p *page) life(w worker.Worker, now time.Time) {
	p.field("Started", moment(w.Started, now))
	if w.Gone() {
		p.field("Ended", moment(w.Ended, now))
		if !w.Started.IsZero() && !w.Ended.IsZero() {
			p.field("Ran for", humane.Age(w.Ended.Sub(w.Started)))
		}
	}
	if w.Exit != nil {
		text := ExitText(w)
		if !strings.Contains(text, w.Exit.Reason) {
			text += ", " + w.Exit.Reason
		}
		p.field("Exit", text)
	}
	p.field("Reason", w.Reason)
	p.field("Still alive", processList(w.Survivors))
	for _, one := range w.PerhapsAlive {
		p.field("Maybe alive", processList([]swarm.Process{one})+", since "+moment(one.Started, now))
	}
	if w.Completion != nil {
		p.field("Completed", cmp.Or(w.Completion.Summary, "without a summary")+", "+moment(w.Completion.Time, now))
	}
	if r := w.Restart.OrDefault(); r.When != swarm.RestartNo {
		text := fmt.Sprintf("%s, after %s to %s; at most %d within %s", r.When, config.FormatDuration(r.MinDelay), config.FormatDuration(r.MaxDelay), r.Budget, config.FormatDuration(r.Window))
		if w.Restarts > 0 {
			text += fmt.Sprintf("; %d so far", w.Restarts)
		}
		p.field("Restart", text)
	}
	p.field("Limits", worker.LimitsText(w.Limits))
	p.field("Unenforced", w.Unenforced)
	p.field("Sandbox", worker.SandboxText(w.Sandbox))
	kill := cmp.Or(w.Kill.Signal, "default signal") + ", " + config.FormatDuration(w.Kill.Grace)
	if w.Kill.Force {
		kill += ", then SIGKILL"
	}
	if w.Kill.Mode == swarm.KillMain {
		kill += "; the main process first"
	}
	p.field("Kill", kill)
	p.field("Retention", w.Retain)
	if w.Resurrect {
		p.field("After a reboot", "started again by 'swarm resurrect --marked'")
	}
	if w.Owner != nil {
		p.field("Owner", fmt.Sprintf("pid %d; the worker is killed when it ends", w.Owner.PID))
	}
	if w.Stdin {
		p.field("Input", "open for 'swarm send'")
	}
	p.gap()
}

func (p *page) files(d host.Details) {
	p.field("Id", d.Worker.ID)
	p.field("Earlier ids", strings.Join(d.Worker.Previous, " "))
	p.field("Files", d.RunDir)
	p.field("Log", logText(d))
	p.gap()
}

func (p *page) use(d host.Details) {
	var parts []string
	add := func(text, what string) {
		if text != stats.None {
			parts = append(parts, text+" "+what)
		}
	}
	used := d.Figures.Usage()
	add(stats.Share(d.Figures.CPU), "now")
	add(stats.CPUTime(used.CPUTime), "in all")
	p.field("CPU", strings.Join(parts, ", "))
	parts = nil
	if s := d.Figures.Stats; s != nil {
		add(stats.Size(s.Memory), "now")
	}
	add(stats.Size(used.Peak), "at the peak")
	p.field("Memory", strings.Join(parts, ", "))
	parts = nil
	add(stats.Size(used.Read), "read")
	add(stats.Size(used.Written), "written")
	p.field("Storage", strings.Join(parts, ", "))
}

func (p *page) tree(d host.Details) {
	if len(d.Processes) == 0 {
		return
	}
	p.heading("Processes")
	const maxDepth = 10
	below := map[int]int{} // the depth of the children of each process
	for _, proc := range d.Processes {
		level := below[proc.Parent]
		below[proc.PID] = level + 1
		indent := strings.Repeat("  ", min(level, maxDepth))
		line := fmt.Sprintf("  %s%d %s", indent, proc.PID, output.Visible(proc.Name))
		p.lines = append(p.lines, p.cut(line, 0))
	}
}

func (p *page) events(d host.Details, now time.Time) {
	if len(d.Events) == 0 {
		return
	}
	p.heading("Last events")
	for _, e := range d.Events {
		text := string(e.Kind)
		if e.Text != "" {
			text += ": " + e.Text
		}
		p.lines = append(p.lines, p.cut(fmt.Sprintf("  %8s  %s", humane.Age(now.Sub(e.Time))+" ago", output.Visible(text)), 0))
	}
}

func (p *page) output(d host.Details) {
	if len(d.Lines) == 0 {
		return
	}
	switch {
	case d.Screen && d.Worker.Gone():
		p.heading("Last screen")
	case d.Screen:
		p.heading("Screen")
	default:
		p.heading("Last lines")
	}
	for _, line := range d.Lines {
		p.lines = append(p.lines, "  "+p.paint(output.Faint, p.bar())+" "+p.cut(output.Visible(line), 4))
	}
}

// cut shortens the rest of a line whose first columns are taken.
func (p *page) cut(text string, taken int) string {
	if p.Width == 0 {
		return text
	}
	return output.Shorten(text, max(p.Width-taken, 1), p.Plain)
}

// moment is a time and how long ago it was; empty if it is not known.
func moment(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s (%s ago)", t.Local().Format(time.DateTime), humane.Age(now.Sub(t)))
}

// changesText is "+12 −3 in 4 files, see 'swarm diff NAME'".
func changesText(name string, c compare.Changes, plain bool) string {
	files := "1 file"
	switch c.Files {
	case 0:
		return "none"
	case 1:
	default:
		files = fmt.Sprintf("%d files", c.Files)
	}
	return fmt.Sprintf("%s in %s, see 'swarm diff %s'", LinesText(c, plain), files, name)
}

// LinesText is "+12 −3".
func LinesText(c compare.Changes, plain bool) string {
	minus := "−"
	if plain {
		minus = "-"
	}
	return fmt.Sprintf("+%d %s%d", c.Added, minus, c.Removed)
}

// DistanceText is "↑2 ↓1": how many commits a worktree is ahead of its repository's main working
// tree, and how many behind it; empty for neither.
func DistanceText(c compare.Changes, plain bool) string {
	if plain {
		return distance(c, ">%d", "<%d", " ")
	}
	return distance(c, "↑%d", "↓%d", " ")
}

// distance says with two formats how far ahead and how far behind a worktree is.
func distance(c compare.Changes, ahead, behind, between string) string {
	var parts []string
	if c.Ahead != nil && *c.Ahead > 0 {
		parts = append(parts, fmt.Sprintf(ahead, *c.Ahead))
	}
	if c.Behind != nil && *c.Behind > 0 {
		parts = append(parts, fmt.Sprintf(behind, *c.Behind))
	}
	return strings.Join(parts, between)
}

// placeDetails returns what the backend says about a place, without what its name, its id and the
// settings say already.
func placeDetails(w swarm.Where, settings map[string]string) string {
	details := map[string]string{}
	for key, value := range w.Parts {
		if value != "" && value != settings[key] && !strings.Contains(w.Name, value) && !strings.HasPrefix(w.ID, value) {
			details[key] = value
		}
	}
	if w.ID != "" && w.ID != w.Name {
		details["id"] = w.ID
	}
	return pairs(details)
}

func pairs(options map[string]string) string {
	keys := slices.Sorted(maps.Keys(options))
	words := output.List(keys, func(key string) string { return key + "=" + options[key] })
	return strings.Join(words, " ")
}

func capital(text string) string {
	if text == "" {
		return "Place"
	}
	first := output.Head(text, 1)
	return strings.ToUpper(first) + text[len(first):]
}

func logText(d host.Details) string {
	if d.Log == nil {
		return ""
	}
	text := stats.Size(&d.Log.Bytes)
	if limit := d.Worker.OutputLimit; limit > 0 {
		text += " of at most " + stats.Size(&limit)
	}
	if d.Log.DroppedBytes > 0 {
		text += fmt.Sprintf("; %s of older output dropped (%d lines)", stats.Size(&d.Log.DroppedBytes), d.Log.DroppedLines)
	}
	return text
}
