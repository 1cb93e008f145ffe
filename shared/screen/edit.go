package screen

import (
	"slices"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/sgr"
)

func (s *Screen) edit(final byte) {
	n := s.seq.number(0)
	switch final {
	case 'J':
		s.eraseDisplay(s.seq.params.At(0))
	case 'K':
		s.eraseLine(s.seq.params.At(0))
	case '@', 'P', 'X':
		s.editLine(final, n)
	case 'L', 'M':
		s.align()
		g := s.grid()
		// As in tmux: the column stays, and above the scroll region it is the screen.
		x := s.column()
		top, bottom := s.bounds()
		if g.y < top || g.y > bottom {
			bottom = s.height() - 1
		}
		if final == 'L' {
			s.scrollDown(g.y, bottom, n)
		} else {
			s.deleteLines(g.y, bottom, n)
		}
		s.toColumn(x)
	case 'S', 'T':
		s.align()
		x := s.column()
		if top, bottom := s.bounds(); final == 'S' {
			s.scrollUp(top, bottom, n)
		} else if len(s.seq.params) < 2 {
			s.scrollDown(top, bottom, n)
		}
		s.toColumn(x)
	case 'b':
		s.repeat(n)
	case 'r':
		s.setRegion(s.seq.number(0)-1, s.seq.params.At(1)-1)
	}
}

func (s *Screen) editLine(final byte, n int) {
	r := s.cellRow()
	g := s.grid()
	g.past = false
	s.touch(g.y)
	s.budget.work(len(r.cells)/2 + min(n, s.width()))
	switch final {
	case '@':
		r.insert(g.x, min(n, s.right(0)+1), s.width(), s.styled())
	case 'P':
		r.remove(g.x, n)
	case 'X':
		to := min(g.x+n, s.width())
		r.open(g.x, to)
		r.blank(g.x, to)
	}
}

// repeat writes the last letter again.
func (s *Screen) repeat(n int) {
	g := s.grid()
	if s.last == lastOfText {
		s.last, _ = utf8.DecodeLastRune(g.rows[g.y].text)
	}
	s.cellRow()
	if c := s.last; c >= ' ' {
		n = min(n, s.right(0)+1-g.x)
		s.budget.work(letterWork * max(n, 0))
		for range n {
			s.put(c)
		}
	}
}

// letterWork is how many steps it takes to write a letter.
const letterWork = 16

func (s *Screen) eraseLine(how int) {
	s.align()
	g := s.grid()
	if how == 0 && g.x == atEnd {
		return // nothing is there
	}
	x := s.column()
	r := g.rows[g.y]
	s.budget.work(len(r.cells) / 2)
	switch {
	case how == 2, how == 0 && x == 0:
		r.clear()
	case how == 0:
		r = s.cellRow()
		s.touch(g.y)
		r.open(x, x)
		r.cut(x)
		r.wrapped = false
	case how == 1:
		r = s.cellRow()
		s.touch(g.y)
		r.open(0, x+1)
		r.blank(0, x+1)
	}
	s.toColumn(x)
}

func (s *Screen) eraseDisplay(how int) {
	s.align()
	g := s.grid()
	if how == 0 && g.x == atEnd && g.y == len(g.rows)-1 && g.y+len(g.rows[g.y].text) > 0 {
		return // nothing is there
	}
	x := s.column()
	s.budget.work(rowWork * len(g.rows))
	switch {
	case how == 2, how == 0 && x == 0 && g.y == 0:
		s.empty()
	case how == 0:
		s.eraseLine(0)
		s.moved = s.moved || len(g.rows) > g.y+1
		g.rows = g.rows[:g.y+1]
		g.first = min(g.first, len(g.rows))
	case how == 1:
		for _, r := range g.rows[:g.y] {
			r.clear()
		}
		s.eraseLine(1)
	}
	s.toColumn(x)
}

// empty erases the screen. Its lines are finished, but not those of the alternate screen.
func (s *Screen) empty() {
	g := s.grid()
	s.moved = true
	if !s.alt {
		s.reportAll(false)
	}
	y, x := g.y, g.x
	g.rows = g.rows[:0]
	s.need(y)
	g.y, g.x, g.past, g.first, g.fresh = y, x, false, 0, true
	s.reach = 0
}

// setRegion sets the scroll region to the rows from top to bottom; bottom -1: the last.
func (s *Screen) setRegion(top, bottom int) {
	s.align()
	s.grow(bottom)
	if last := s.height() - 1; bottom < 0 || bottom > last {
		bottom = last
	}
	if top >= bottom {
		return
	}
	s.region, s.top, s.bottom = top > 0 || bottom < s.height()-1, top, bottom
	s.moveTo(0, 0)
}

func (s *Screen) scrollUp(top, bottom, n int) {
	g := s.grid()
	s.need(bottom)
	n = min(n, bottom-top+1)
	s.budget.work(rowWork*n + (bottom-top)/4)
	for i := range n {
		s.leave(g, top+i)
	}
	s.shiftUp(g, top, bottom, n)
}

// deleteLines takes rows out at top, which are gone.
func (s *Screen) deleteLines(top, bottom, n int) {
	g := s.grid()
	s.moved = true
	s.need(bottom)
	s.budget.work(rowWork*min(n, bottom-top+1) + (bottom-top)/4)
	s.shiftUp(g, top, bottom, min(n, bottom-top+1))
	g.first = min(g.first, top)
}

func (s *Screen) shiftUp(g *grid, top, bottom, n int) {
	if top > 0 {
		g.rows[top-1].wrapped = false
	}
	g.rows[bottom].wrapped = false
	rotate(g.rows[top:bottom+1], n)
	for _, r := range g.rows[bottom+1-n : bottom+1] {
		r.reset()
	}
	if g.first > top {
		g.first = max(top, g.first-n)
	}
	g.first = min(g.first, bottom+1-n)
}

// scrollDown takes rows out at bottom, which are gone, and adds empty ones at top.
func (s *Screen) scrollDown(top, bottom, n int) {
	g := s.grid()
	s.moved = true
	s.back(s.height())
	s.need(bottom)
	n = min(n, bottom-top+1)
	s.budget.work(rowWork*n + (bottom-top)/4)
	rotate(g.rows[top:bottom+1], bottom+1-top-n)
	for _, r := range g.rows[top : top+n] {
		r.reset()
	}
	g.rows[bottom].wrapped = false
	if top > 0 {
		g.rows[top-1].wrapped = false
	}
	g.first = min(g.first, top)
}

// rotate puts the first n rows behind the others.
func rotate(rows []*row, n int) {
	if n == 1 {
		first := rows[0]
		copy(rows, rows[1:])
		rows[len(rows)-1] = first
		return
	}
	slices.Reverse(rows[:n])
	slices.Reverse(rows[n:])
	slices.Reverse(rows)
}

// alternate shows the alternate screen, or the other one again. keep says that the
// cursor goes back to where it was.
func (s *Screen) alternate(on, keep bool) {
	s.align()
	if on == s.alt {
		return
	}
	s.budget.work(rowWork * (len(s.main.rows) + len(s.other.rows)))
	s.moved = true
	if on {
		x := s.column()
		y := s.main.y
		if keep {
			s.save()
		}
		// The program can't change it until it comes back.
		s.reportAll(false)
		s.alt, s.other = true, grid{rows: s.other.rows[:0]}
		s.moveTo(y, x)
		return
	}
	s.reportAll(false)
	s.alt, s.other = false, grid{rows: s.other.rows[:0]}
	if keep {
		s.restore()
	}
}

func (s *Screen) soft() {
	s.align()
	s.origin, s.noWrap, s.inserting, s.newline = false, false, false, false
	s.graphics, s.shift = [2]bool{}, 0
	s.style = sgr.Style{}
	s.region = false
}

func (s *Screen) restart() {
	s.alternate(false, false)
	s.soft()
	s.empty()
	s.moveTo(0, 0)
}

// tab moves the cursor to the next tab stop. Where nothing was written yet, the tab
// becomes part of the text.
func (s *Screen) tab() {
	r := s.cellRow()
	g := s.grid()
	if g.past {
		return
	}
	w := tabWidth - g.x%tabWidth
	if g.x+w >= s.width() {
		g.x = s.width() - 1
		return
	}
	if g.x >= len(r.cells) {
		s.touch(g.y)
		r.set(g.x, '\t', w, s.style, s.styled())
	}
	g.x += w
}
