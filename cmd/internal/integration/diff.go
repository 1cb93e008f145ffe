package integration

import (
	"fmt"
	"slices"
	"strings"
)

const around = 3

// maxTable bounds the memory for the search of common lines.
const maxTable = 4 << 20

// Diff returns the change of a file as a unified diff.
func (c *Change) Diff() string {
	before, after := slices.Collect(strings.Lines(c.Before)), slices.Collect(strings.Lines(c.After))
	from, to := c.Path, c.Path
	if !c.Existed {
		from = "/dev/null"
	}
	if !c.Exists {
		to = "/dev/null"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for _, h := range hunks(before, after) {
		h.write(&b, before, after)
	}
	return b.String()
}

// step is one line of a diff: its index in before if it is kept or removed, and in after if
// it is kept or added; else -1.
type step struct{ before, after int }

type hunk []step

func hunks(before, after []string) (all []hunk) {
	steps := align(before, after)
	last := -1
	for i, s := range steps {
		if s.before >= 0 && s.after >= 0 {
			continue
		}
		start, end := max(i-around, last+1), min(i+around, len(steps)-1)
		if len(all) > 0 && start <= last+1 {
			all[len(all)-1] = append(all[len(all)-1], steps[min(last+1, end+1):end+1]...)
		} else {
			all = append(all, append(hunk(nil), steps[start:end+1]...))
		}
		last = max(last, end)
	}
	return all
}

// align returns the steps from one text to another: their common lines at both ends, and
// between these the longest common subsequence of lines.
func align(before, after []string) (steps []step) {
	start := 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		steps = append(steps, step{start, start})
		start++
	}
	end := 0
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	a, b := before[start:len(before)-end], after[start:len(after)-end]
	if len(a)*len(b) > maxTable {
		a, b = nil, nil
		for i := start; i < len(before)-end; i++ {
			steps = append(steps, step{i, -1})
		}
		for i := start; i < len(after)-end; i++ {
			steps = append(steps, step{-1, i})
		}
	}
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i, v := range slices.Backward(a) {
		for j := len(b) - 1; j >= 0; j-- {
			if v == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			steps = append(steps, step{start + i, start + j})
			i++
			j++
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			steps = append(steps, step{start + i, -1})
			i++
		default:
			steps = append(steps, step{-1, start + j})
			j++
		}
	}
	for i := range end {
		steps = append(steps, step{len(before) - end + i, len(after) - end + i})
	}
	return steps
}

func (h hunk) write(b *strings.Builder, before, after []string) {
	fromLine, fromCount, toLine, toCount := 0, 0, 0, 0
	for _, s := range h {
		if s.before >= 0 {
			if fromCount == 0 {
				fromLine = s.before + 1
			}
			fromCount++
		}
		if s.after >= 0 {
			if toCount == 0 {
				toLine = s.after + 1
			}
			toCount++
		}
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", fromLine, fromCount, toLine, toCount)
	for _, s := range h {
		mark, line := " ", ""
		switch {
		case s.after < 0:
			mark, line = "-", before[s.before]
		case s.before < 0:
			mark, line = "+", after[s.after]
		default:
			line = after[s.after]
		}
		b.WriteString(mark + line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
