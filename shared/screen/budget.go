package screen

import (
	"fmt"
	"time"
)

// The work and the reports of a screen are bounded by the text that was written to it. A few bytes can
// clear, move or scroll the whole screen, and those that leave the alternate screen report
// all of its lines: a program that writes nothing else would take any time and memory.
const (
	// workFree and workPerByte say how many steps sequences may take: a step is about what it
	// takes to write a cell. Programs that draw whole screens take fewer than one per byte.
	workFree, workPerByte = 1 << 20, 16
	// textFree and textPerByte say how many bytes of text may be reported. lineCost is what a
	// line costs in addition to its text: a newline alone is worth it.
	textFree, textPerByte = 1 << 20, 16
	lineCost              = textPerByte
)

// budget counts what was written, and what it was used for. Text that is printed is never
// refused, so the same output reads the same in whatever pieces it comes.
type budget struct {
	written, worked, reported int64
	// printing says that letters are written, and not a control character or a sequence.
	printing bool
	// missing is how many lines were not reported since the last one that was.
	missing int
	// skipped says that a sequence was skipped, and said that the skip was reported.
	skipped, said bool
}

// work counts steps.
func (b *budget) work(n int) { b.worked += int64(n) }

// tired reports whether the sequences so far took more steps than the output allows. The
// next sequence is skipped then.
func (b *budget) tired() bool {
	if b.worked <= workFree+workPerByte*b.written {
		return false
	}
	b.skipped = true
	return true
}

// report counts a line, or a piece of one, and returns whether it may be reported.
func (b *budget) report(text int) bool {
	cost := int64(text + lineCost)
	if !b.printing && b.reported+cost > textFree+textPerByte*b.written {
		return false
	}
	b.reported += cost
	return true
}

// give passes a line on, unless the budget is used up: then it is counted, and the next one
// that is passed on comes after a line that says how many are missing.
func (s *Screen) give(l Line) {
	if s.Line == nil {
		return
	}
	if !s.budget.report(len(l.Text)) {
		if l.Ends {
			s.budget.missing++
		}
		return
	}
	s.reportMissing(l.Time)
	s.Line(l)
}

func (s *Screen) reportMissing(at time.Time) {
	b := &s.budget
	skipped := b.skipped && !b.said
	if b.missing == 0 && !skipped || s.Line == nil {
		return
	}
	what := "a part of the output is"
	if b.missing > 0 {
		what = fmt.Sprintf("%d lines are", b.missing)
	}
	text := fmt.Appendf(nil, "[%s left out: the program draws far more than it writes]", what)
	b.said = b.said || skipped
	b.missing = 0
	b.reported += int64(len(text) + lineCost)
	s.Line(Line{Text: text, Time: at, Begins: true, Ends: true})
}
