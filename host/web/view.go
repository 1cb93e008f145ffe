package web

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/shared/safetext"
)

const (
	// maxFilter is how long a filter may be, in bytes, and maxFolds how many sections may be
	// folded.
	maxFilter, maxFolds = 200, 100
)

// viewOf returns how a request wants to see the list. The address of a page has it all, so
// that a link shows the same.
func viewOf(r *http.Request) dash.View {
	q := r.URL.Query()
	v := dash.View{
		Filter: safetext.Cut(q.Get("q"), maxFilter), Folded: map[string]bool{},
		Group: dash.Group(q.Get("group")), Sort: dash.Sort(q.Get("sort")),
	}
	if !slices.Contains(dash.Groups, v.Group) {
		v.Group = dash.GroupNone
	}
	if !slices.Contains(dash.Sorts, v.Sort) {
		v.Sort = dash.SortUrgency
	}
	for _, name := range q["fold"][:min(len(q["fold"]), maxFolds)] {
		v.Folded[name] = true
	}
	return v
}

func addressOf(path string, v dash.View) string {
	q := url.Values{}
	if v.Filter != "" {
		q.Set("q", v.Filter)
	}
	if v.Group != dash.GroupNone {
		q.Set("group", string(v.Group))
	}
	if v.Sort != dash.SortUrgency {
		q.Set("sort", string(v.Sort))
	}
	for _, name := range folds(v) {
		q.Add("fold", name)
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

func folds(v dash.View) []string { return slices.Sorted(maps.Keys(v.Folded)) }

// turned returns a view in which a section is folded that is not, or the reverse.
func turned(v dash.View, name string) dash.View {
	v.Folded = maps.Clone(v.Folded)
	if v.Folded[name] {
		delete(v.Folded, name)
	} else {
		v.Folded[name] = true
	}
	return v
}

type option struct {
	Value, Label string
	Chosen       bool
}

var (
	groupLabels = map[dash.Group]string{
		dash.GroupNone: "State", dash.GroupTag: "Tag", dash.GroupTeam: "Team", dash.GroupProject: "Project", dash.GroupWorkspace: "Repository",
	}
	sortLabels = map[dash.Sort]string{
		dash.SortUrgency: "Urgency", dash.SortName: "Name", dash.SortAge: "Newest", dash.SortCPU: "CPU", dash.SortMemory: "Memory",
	}
)

// optionsOf returns the choices with their labels. The address of a page leaves out the
// usual one, whose value is empty.
func optionsOf[T ~string](choices []T, labels map[T]string, usual, chosen T) []option {
	var all []option
	for _, c := range choices {
		value := string(c)
		if c == usual {
			value = ""
		}
		all = append(all, option{value, labels[c], c == chosen})
	}
	return all
}

// sectionsOf returns the rows of a view in their sections: those of a group, or else of an
// urgency. In another order than that of urgency there is one section.
func sectionsOf(s snapshot, v dash.View, row func(dash.Item) row) []section {
	rows := dash.Rows(s.Snapshot, v)
	if v.Group != dash.GroupNone {
		return sectionsOfGroups(rows, v, row)
	}
	sections := []section{{Name: "questions", Label: "Questions"}, {Name: "attention", Label: "Needs attention"}, {Name: "running", Label: "Running"}, {Name: "ended", Label: "Ended"}}
	if v.Sort != dash.SortUrgency {
		sections = []section{{Name: "all"}}
	}
	for _, r := range rows {
		at := 0
		if len(sections) > 1 {
			at = placeOf(*r.Item)
		}
		sec := &sections[at]
		sec.Count++
		if sec.Folded = v.Folded[sec.Name] && sec.Label != ""; !sec.Folded {
			sec.Rows = append(sec.Rows, row(*r.Item))
		}
	}
	return slices.DeleteFunc(finish(sections, v), func(sec section) bool { return sec.Count == 0 })
}

func sectionsOfGroups(rows []dash.Row, v dash.View, row func(dash.Item) row) []section {
	var sections []section
	for _, r := range rows {
		if r.Item == nil {
			label := safetext.Line(r.Group)
			if label == "" {
				label = "No " + string(v.Group)
			}
			sections = append(sections, section{Name: r.Group, Label: label, Count: r.Count, Folded: r.Folded, Tone: r.Worst.Kind().Tone()})
			continue
		}
		one := row(*r.Item)
		// A worker that carries several tags has a row in the group of each.
		one.Key = url.PathEscape(r.Group) + "/" + one.ID
		sec := &sections[len(sections)-1]
		sec.Rows = append(sec.Rows, one)
	}
	return finish(sections, v)
}

func finish(sections []section, v dash.View) []section {
	for i := range sections {
		sections[i].Href = addressOf("/", turned(v, sections[i].Name))
	}
	return sections
}

func placeOf(i dash.Item) int {
	switch {
	case dash.Answer.Suits(i):
		return 0
	case i.State.Urgency == dash.Running:
		return 2
	case i.State.Urgency == dash.Ended:
		return 3
	default:
		return 1
	}
}
