package dash

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// lines are rows in short: "# group (count)", "name".
func lines(rows []Row) (lines []string) {
	for _, r := range rows {
		if r.Item == nil {
			lines = append(lines, fmt.Sprintf("# %s (%d)", r.Group, r.Count))
		} else {
			lines = append(lines, r.Item.Name)
		}
	}
	return lines
}

func TestRows(t *testing.T) {
	t.Parallel()
	b := New(nil, nil)
	tagged := func(w worker.Worker, tags ...string) worker.Worker {
		w.Tags = tags
		return w
	}
	cat := runningWorker("cat")
	cat.Command = []string{"make", "watch"}
	b.put([]worker.Worker{
		tagged(runningWorker("ant"), "api"), tagged(ended("bee", 3, swarm.CauseExited), "web"), cat,
		tagged(runningWorker("dog"), "api", "web"),
	}, true)
	s := b.Snapshot()
	for name, c := range map[string]struct {
		view View
		want []string
	}{
		"plain":  {View{}, []string{"bee", "ant", "cat", "dog"}},
		"name":   {View{Sort: SortName}, []string{"ant", "bee", "cat", "dog"}},
		"filter": {View{Filter: "MAKE run"}, []string{"cat"}},
		"state":  {View{Filter: "exited"}, []string{"bee"}},
		"none":   {View{Filter: "nothing"}, nil},
		"groups": {View{Group: GroupTag}, []string{"# web (2)", "bee", "dog", "# api (2)", "ant", "dog", "#  (1)", "cat"}},
		"folded": {View{Group: GroupTag, Folded: map[string]bool{"web": true}}, []string{"# web (2)", "# api (2)", "ant", "dog", "#  (1)", "cat"}},
		"teams":  {View{Group: GroupTeam}, []string{"#  (4)", "bee", "ant", "cat", "dog"}},
	} {
		if diff := cmp.Diff(c.want, lines(Rows(s, c.view))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// The last figures of a worker that has ended say nothing of now.
	b.Measured(map[string]Figure{"id-cat": {CPU: 0.5, Memory: 1}, "id-ant": {CPU: 0.1, Memory: 9}, "id-bee": {CPU: 8, Memory: 99}})
	if diff := cmp.Diff([]string{"cat", "ant", "dog", "bee"}, lines(Rows(b.Snapshot(), View{Sort: SortCPU}))); diff != "" {
		t.Errorf("by CPU (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ant", "cat", "dog", "bee"}, lines(Rows(b.Snapshot(), View{Sort: SortMemory}))); diff != "" {
		t.Errorf("by memory (-want +got):\n%s", diff)
	}
}

// TestNames: numbers in names are ordered by their value.
func TestNames(t *testing.T) {
	t.Parallel()
	want := []string{"a", "a-2", "a-10", "v1.9.1", "v1.10", "w", "w01", "w1", "w2", "w10", "w10-b", "w11", "wa"}
	names := slices.Clone(want)
	slices.Reverse(names)
	slices.SortFunc(names, compareNames)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSeen: one that failed and was seen comes after those that run, and the counts and the
// filter still know it as one that failed.
func TestSeen(t *testing.T) {
	t.Parallel()
	b := New(nil, nil)
	b.put([]worker.Worker{runningWorker("ant"), ended("bee", 3, swarm.CauseExited)}, true)
	b.See("id-bee")
	s := b.Snapshot()
	if diff := cmp.Diff([]string{"ant", "bee"}, names(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[Urgency]int{Running: 1, Failed: 1}, s.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"bee"}, lines(Rows(s, View{Filter: "failed"}))); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

func TestFiguresKept(t *testing.T) {
	t.Parallel()
	b := New(nil, nil)
	b.put([]worker.Worker{runningWorker("a")}, true)
	for i := range FiguresKept + 5 {
		b.Measured(map[string]Figure{"id-a": {Memory: int64(i)}, "id-gone": {}})
	}
	i, _ := b.Snapshot().Find("id-a")
	if len(i.Figures) != FiguresKept || i.Figures[0].Memory != 5 {
		t.Errorf("%d figures from %d", len(i.Figures), i.Figures[0].Memory)
	}
	b.put(nil, true)
	if len(b.figures) != 0 {
		t.Errorf("figures of workers that are gone: %v", b.figures)
	}
}
