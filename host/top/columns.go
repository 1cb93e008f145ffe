package top

import (
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/safetext"
)

// columns are the widths of the columns of the list; one of width 0 is not shown.
type columns struct {
	name, state, cpu, cpuSpark, memory, memorySpark, tags, branch, changes int
}

const (
	cpuWidth, memoryWidth, sparkWidth = 4, 7, 8
	// stateWidth bounds the width of states, nameWidth is the least for longer names, and
	// textWidth bounds that of tags and branches.
	stateWidth, nameWidth, textWidth = 24, 12, 20
	// ageWidth is the width of most ages: a column does not move when one gets shorter.
	ageWidth = 3
	// gutter are the cursor, the mark, the symbol and a space.
	gutter = 4
	// narrowest is the least width of a list with a right side, and widest the least that
	// bounds it.
	narrowest, widest = 38, 78
)

func (m *model) wanted() columns {
	c := columns{name: 4, state: 5, cpu: cpuWidth, cpuSpark: sparkWidth, memory: memoryWidth, memorySpark: sparkWidth}
	for _, r := range m.rows {
		if r.Item == nil {
			continue
		}
		c.name = max(c.name, widthOf(r.Item.Name))
		_, _, state, age := m.attention(*r.Item)
		width := widthOf(state) + widthOf(age)
		if age != "" {
			width = max(width, widthOf(state)+len(", ")+ageWidth)
		}
		c.state = max(c.state, min(width, stateWidth))
		c.tags = max(c.tags, min(widthOf(tagsOf(*r.Item)), textWidth))
		c.branch = max(c.branch, min(widthOf(branchOf(*r.Item)), textWidth))
		c.changes = max(c.changes, widthOf(m.changesOf(*r.Item)))
	}
	for _, head := range []struct {
		at   *int
		text string
	}{{&c.tags, "TAGS"}, {&c.branch, "BRANCH"}, {&c.changes, "CHANGES"}} {
		if *head.at > 0 {
			*head.at = max(*head.at, len(head.text))
		}
	}
	return c
}

// width returns how wide a list with these columns is.
func (c columns) width() int {
	n := gutter + c.name + 1 + c.state
	for _, w := range []int{c.cpu, c.cpuSpark, c.memory, c.memorySpark, c.tags, c.branch, c.changes} {
		if w > 0 {
			n += w + 1
		}
	}
	return n + 1
}

func (m *model) widest() int { return max(widest, m.wants.width()) }

// columns decides which columns there is space for. A long name makes space for the states, of
// which the most urgent ones are the longest.
func (m *model) columns() columns {
	want := m.wants
	space := m.leftWidth() - gutter - 1
	c := columns{name: min(want.name, nameWidth)}
	c.state = max(5, min(want.state, space-c.name))
	space -= c.name + c.state
	grow := func(most int) {
		more := max(0, min(most-c.name, space))
		c.name += more
		space -= more
	}
	for _, optional := range []struct {
		at   *int
		want int
	}{
		{&c.cpu, want.cpu},
		{&c.memory, want.memory},
		{nil, 2 * nameWidth},
		{&c.changes, want.changes},
		{&c.tags, want.tags},
		{&c.branch, want.branch},
		{&c.cpuSpark, want.cpuSpark},
		{&c.memorySpark, want.memorySpark},
	} {
		switch {
		case optional.at == nil:
			grow(min(want.name, optional.want))
		case optional.want > 0 && space > optional.want:
			*optional.at = optional.want
			space -= optional.want + 1
		}
	}
	grow(want.name)
	return c
}

func (c columns) heads(m *model) string {
	cells := []string{strings.Repeat(" ", gutter) + m.fit("NAME", c.name), m.fit("STATE", c.state)}
	for _, head := range []struct {
		text  string
		width int
		right bool
	}{
		{"CPU", c.cpu, true},
		{"", c.cpuSpark, false},
		{"MEM", c.memory, true},
		{"", c.memorySpark, false},
		{"CHANGES", c.changes, true},
		{"TAGS", c.tags, false},
		{"BRANCH", c.branch, false},
	} {
		switch {
		case head.width == 0:
		case head.right:
			cells = append(cells, m.right(head.text, head.width))
		default:
			cells = append(cells, m.fit(head.text, head.width))
		}
	}
	return strings.Join(cells, " ")
}

func (m *model) itemRow(i dash.Item, selected bool, c columns) string {
	symbol, tone, state, age := m.attention(i)
	mark := " "
	if m.marks[i.ID] {
		mark = strong.paint(m.symbol("▪", "#"))
	}
	name := normal
	switch {
	case selected:
		name = bold
	case i.State.Urgency == dash.Ended:
		name = faint
	}
	cells := []string{m.cursorOf(selected) + mark + tone.paint(symbol) + " " + name.paint(m.fit(safetext.Line(i.Name), c.name)) +
		" " + m.fit(tone.paint(safetext.Line(state))+faint.paint(age), c.state)}
	cpu, memory := "", ""
	if i.Status == worker.StatusRunning {
		cpu, memory = lastFigures(i)
	}
	cpus, memories := i.Series()
	for _, cell := range []struct {
		width int
		text  string
	}{
		{c.cpu, m.right(cpu, c.cpu)},
		{c.cpuSpark, faint.paint(m.spark(cpus, leastCPU, c.cpuSpark))},
		{c.memory, m.right(memory, c.memory)},
		{c.memorySpark, faint.paint(m.spark(memories, leastMemory, c.memorySpark))},
		{c.changes, m.right(m.changesOf(i), c.changes)},
		{c.tags, faint.paint(m.fit(tagsOf(i), c.tags))},
		{c.branch, faint.paint(m.fit(branchOf(i), c.branch))},
	} {
		if cell.width > 0 {
			cells = append(cells, cell.text)
		}
	}
	return strings.Join(cells, " ")
}

// tagsOf returns the tags of a worker, in one cell.
func tagsOf(i dash.Item) string { return safetext.Line(strings.Join(i.Tags, ", ")) }

func branchOf(i dash.Item) string {
	if i.Workspace == nil {
		return ""
	}
	return safetext.Line(i.Workspace.Branch)
}

// changesOf returns how many lines were added and removed in a worker's workspace. It is empty
// if nothing has changed, and until the workspace was compared.
func (m *model) changesOf(i dash.Item) string {
	c, known := m.changes[i.ID]
	if !known || c.Files == 0 {
		return ""
	}
	return fmt.Sprintf("+%d %s%d", c.Added, m.symbol("−", "-"), c.Removed)
}
