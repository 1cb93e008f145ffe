package dash

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Group says by what workers are put together.
type Group string

// The groups of workers.
const (
	GroupNone      Group = ""
	GroupTag       Group = "tag"
	GroupTeam      Group = "team"
	GroupProject   Group = "project"
	GroupWorkspace Group = "workspace"
)

// Groups are all groups, in the order in which a key goes through them.
var Groups = []Group{GroupNone, GroupTag, GroupTeam, GroupProject, GroupWorkspace}

// Sort says in which order workers are shown.
type Sort string

// The orders of workers.
const (
	SortUrgency Sort = "urgency"
	SortName    Sort = "name"
	SortAge     Sort = "age"
	SortCPU     Sort = "cpu"
	SortMemory  Sort = "memory"
)

// Sorts are all orders, in the order in which a key goes through them.
var Sorts = []Sort{SortUrgency, SortName, SortAge, SortCPU, SortMemory}

// View says what of a board is shown, and how.
type View struct {
	// Filter is words, all of which a worker must have in its name, state, tags, team,
	// backend, branch or command; in any case.
	Filter string
	Sort   Sort
	Group  Group
	// Folded are the names of groups of which only the name is shown.
	Folded map[string]bool
	// Asking shows the workers whose agents ask something, the oldest question first, and no
	// groups.
	Asking bool
}

// Row is a line of a list of workers: a worker, or the head of a group.
type Row struct {
	// Item is a worker; nil for the head of a group.
	Item *Item
	// Group is the name of the group that begins here, or of the worker's.
	Group string
	// Count is how many workers a group has, and Worst the urgency of the first.
	Count  int
	Worst  Urgency
	Folded bool
}

// Rows returns the lines of a list. Groups are in the order of their most urgent worker; a
// worker that carries several tags is in the group of each.
func Rows(s Snapshot, v View) []Row {
	items := make([]*Item, 0, len(s.Items))
	words := strings.Fields(strings.ToLower(v.Filter))
	for i := range s.Items {
		if s.Items[i].matches(words) && (!v.Asking || Answer.Suits(s.Items[i])) {
			items = append(items, &s.Items[i])
		}
	}
	if v.Asking {
		v.Sort, v.Group = SortUrgency, GroupNone
	}
	if order := orders[v.Sort]; order != nil {
		slices.SortStableFunc(items, func(a, b *Item) int { return order(*a, *b) })
	}
	if v.Group == GroupNone {
		rows := make([]Row, len(items))
		for i, item := range items {
			rows[i] = Row{Item: item}
		}
		return rows
	}
	return grouped(items, v)
}

// ProjectName names the project of a worker: the directory of the file that declares it, that of
// its repository, or its own.
func (i Item) ProjectName() string {
	switch {
	case i.Project != "":
		return filepath.Base(filepath.Dir(i.Project))
	case i.Workspace != nil && i.Workspace.Base != "":
		return filepath.Base(i.Workspace.Base)
	default:
		return filepath.Base(i.Dir)
	}
}

func grouped(items []*Item, v View) []Row {
	members := map[string][]*Item{}
	var names []string
	for _, item := range items {
		for _, name := range item.groups(v.Group) {
			if members[name] == nil {
				names = append(names, name)
			}
			members[name] = append(members[name], item)
		}
	}
	worst := func(name string) Urgency {
		return slices.MinFunc(members[name], func(a, b *Item) int { return cmp.Compare(a.State.Urgency, b.State.Urgency) }).State.Urgency
	}
	slices.SortFunc(names, func(a, b string) int {
		if c := cmp.Compare(worst(a), worst(b)); c != 0 {
			return c
		}
		if c := cmp.Compare(len(b), 0) - cmp.Compare(len(a), 0); c != 0 {
			return c // those without one come last
		}
		return compareNames(a, b)
	})
	var rows []Row
	for _, name := range names {
		rows = append(rows, Row{Group: name, Count: len(members[name]), Worst: worst(name), Folded: v.Folded[name]})
		if v.Folded[name] {
			continue
		}
		for _, item := range members[name] {
			rows = append(rows, Row{Item: item, Group: name})
		}
	}
	return rows
}

// groups returns the names of the groups of a worker; "" is that of those without one.
func (i *Item) groups(by Group) []string {
	switch by {
	case GroupTag:
		if len(i.Tags) > 0 {
			return i.Tags
		}
	case GroupTeam:
		return []string{i.Team}
	case GroupProject:
		if i.Project != "" {
			return []string{filepath.Base(filepath.Dir(i.Project))}
		}
	case GroupWorkspace:
		if i.Workspace != nil {
			return []string{filepath.Base(i.Workspace.Base)}
		}
	case GroupNone:
	}
	return []string{""}
}

// matches reports whether a worker has all the words, which are in lower case.
func (i *Item) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	texts := append([]string{i.Name, i.State.Word, stateOf(&i.Worker, false).Urgency.String(), i.Team, i.Backend, i.CommandLine()}, i.Tags...)
	if i.Workspace != nil {
		texts = append(texts, i.Workspace.Branch)
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(all, word) })
}

var orders = map[Sort]func(a, b Item) int{
	SortName: byName,
	SortAge:  func(a, b Item) int { return b.Created.Compare(a.Created) },
	SortCPU: func(a, b Item) int {
		return cmp.Or(endedLast(a, b), cmp.Compare(b.last().CPU, a.last().CPU))
	},
	SortMemory: func(a, b Item) int {
		return cmp.Or(endedLast(a, b), cmp.Compare(b.last().Memory, a.last().Memory))
	},
}

// endedLast puts workers that have ended behind the others: they use nothing, whatever
// their last figures were.
func endedLast(a, b Item) int {
	switch {
	case a.Gone() == b.Gone():
		return 0
	case a.Gone():
		return 1
	default:
		return -1
	}
}

// last returns the newest figure of a worker; one that has ended has none.
func (i Item) last() Figure {
	if len(i.Figures) == 0 || i.Gone() {
		return Figure{CPU: -1, Memory: -1}
	}
	return i.Figures[len(i.Figures)-1]
}

func byName(a, b Item) int {
	return cmp.Or(compareNames(a.Name, b.Name), strings.Compare(a.ID, b.ID))
}

// compareNames compares names as people order them: numbers in them by their value, so that
// w2 comes before w10.
func compareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := digits(x), digits(y)
		if n == 0 || m == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
			return c
		}
		x, y = x[n:], y[m:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// Next returns the choice after at in a round of choices.
func Next[T comparable](choices []T, at T) T {
	return choices[(slices.Index(choices, at)+1)%len(choices)]
}
