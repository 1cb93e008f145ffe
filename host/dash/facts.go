package dash

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Facts are what is known of a worker besides its state, as people read it. Their texts are
// fit for a terminal.
type Facts struct {
	Facts     []Fact
	Processes []Process
}

// Fact is a fact about a worker. Code says that it is shown as a program has it.
type Fact struct {
	Label string
	Lines []string
	Code  bool
}

// Process is a process of a worker. Depth is how many processes of the worker are above it.
type Process struct {
	PID, Depth        int
	Name, CPU, Memory string
	State             string
}

// FactsOf returns the facts about a worker.
func FactsOf(d host.Details) Facts {
	return Facts{Facts: factsOf(d), Processes: processesOf(d.Processes)}
}

const deepest = 8

// processesOf returns processes, each of which comes before its children.
func processesOf(all []proc.Process) []Process {
	depths := map[int]int{}
	var shown []Process
	for _, p := range all {
		depth := 0
		if above, ok := depths[p.Parent]; ok {
			depth = above + 1
		}
		depths[p.PID] = depth
		shown = append(shown, Process{
			PID: p.PID, Depth: min(depth, deepest), Name: safetext.Line(p.Name), State: processStates[p.State],
			CPU: humane.CPUTime(p.CPU), Memory: humane.Bytes(p.Resident),
		})
	}
	return shown
}

var processStates = map[byte]string{
	'R': "running", 'S': "sleeping", 'I': "sleeping", 'D': "waiting for a device", 'T': "stopped", 't': "stopped", 'Z': "ended", 'X': "ended",
}

func factsOf(d host.Details) []Fact {
	w := d.Worker
	var all []Fact
	add := func(label string, code bool, lines ...string) {
		var shown []string
		for _, line := range lines {
			if line != "" {
				shown = append(shown, safetext.Line(line))
			}
		}
		if len(shown) > 0 {
			all = append(all, Fact{label, shown, code})
		}
	}
	when := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Local().Format("2 Jan 2006, 15:04:05")
	}
	add("Command", true, w.CommandLine())
	add("Directory", true, w.Dir)
	add("Profile", false, d.Profile)
	add("Backend", false, strings.TrimSpace(w.Backend+" "+optionsOf(w.Options)))
	add(Title(w.Where.Kind), true, w.Where.Name)
	if w.PID > 0 {
		add("Main process", false, strconv.Itoa(w.PID))
	}
	add("Created", false, when(w.Created))
	add("Started", false, when(w.Started))
	add("Ended", false, when(w.Ended))
	if w.Exit != nil {
		add("Exit", false, exitOf(*w.Exit))
	}
	add("Used so far", false, usageOf(d.Figures.Usage())...)
	add("Reason", false, w.Reason)
	if w.Completion != nil {
		add("Completed", false, w.Completion.Summary)
	}
	for _, p := range w.Survivors {
		add("Still alive", false, fmt.Sprintf("%s (pid %d)", p.Name, p.PID))
	}
	for _, p := range w.PerhapsAlive {
		add("Maybe alive", false, fmt.Sprintf("%s (pid %d), since %s", p.Name, p.PID, when(p.Started)))
	}
	if r := w.Restart.OrDefault(); r.When != swarm.RestartNo {
		add("Restarts", false, fmt.Sprintf("%s, %d so far; at most %d within %s", r.When, w.Restarts, r.Budget, r.Window))
	}
	add("Limits", false, worker.LimitsText(w.Limits))
	add("Unenforced", false, w.Unenforced)
	add("Sandbox", true, worker.SandboxText(w.Sandbox))
	add("Kill", false, killOf(w.Kill))
	if w.Workspace != nil {
		add("Workspace", true, w.Workspace.Location())
		add("Branch", true, w.Workspace.Branch)
		add("Repository", true, w.Workspace.Base)
	}
	add("Tags", false, strings.Join(w.Tags, ", "))
	add("Team", false, w.Team)
	add("Project", true, w.Project)
	add("Environment", true, envNames(w.Env)...)
	if w.OutputLimit > 0 {
		add("Log limit", false, humane.Bytes(w.OutputLimit))
	}
	add("Retention", false, w.Retain)
	add("Earlier runs", true, w.Previous...)
	if d.Log != nil {
		text := humane.Bytes(d.Log.Bytes) + " kept"
		if d.Log.DroppedBytes > 0 {
			text += ", " + humane.Bytes(d.Log.DroppedBytes) + " dropped"
		}
		add("Log", false, text)
	}
	add("Run directory", true, d.RunDir)
	add("Id", true, w.ID)
	return all
}

// Title returns s with a capital as its first letter.
func Title(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func optionsOf(options map[string]string) string {
	var all []string
	for k, v := range options {
		all = append(all, k+"="+v)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// envNames returns the names of variables: their values may be secret.
func envNames(env []string) []string {
	var names []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	return names
}

func exitOf(e swarm.Exit) string {
	return cmp.Or(e.Signal, "exit code "+strconv.Itoa(e.Code)) + ", " + string(e.Cause)
}

func killOf(k swarm.KillOptions) string {
	text := cmp.Or(k.Signal, "the backend's gentle way") + ", then " + k.Grace.String()
	if k.Force {
		text += ", then by force"
	}
	return text
}

func usageOf(u swarm.Usage) []string {
	var all []string
	if u.CPUTime != nil {
		all = append(all, "CPU time "+humane.CPUTime(*u.CPUTime))
	}
	if u.Peak != nil {
		all = append(all, "memory "+humane.Bytes(*u.Peak)+" at most")
	}
	if u.Read != nil && u.Written != nil {
		all = append(all, humane.Bytes(*u.Read)+" read, "+humane.Bytes(*u.Written)+" written")
	}
	return all
}
