package screen

import "slices"

// done reports whether there is nothing to report of the row.
func (r *row) done() bool { return r.left && (r.ended || r.wrapped) }

// touch notes that the row at y changes.
func (s *Screen) touch(y int) {
	g := s.grid()
	g.first = min(g.first, y)
	g.rows[y].changed(s.now)
}

// holds reports whether lines are kept until they scroll off.
func (s *Screen) holds() bool {
	return s.alt || !s.Live && (s.sized || s.returned || s.moved)
}

// advance reports the lines that are finished.
func (s *Screen) advance() {
	if s.holds() {
		return
	}
	g := s.grid()
	limit := len(g.rows) - 1 - s.reach
	for g.first < limit {
		end := g.first
		for g.rows[end].wrapped && end+1 < len(g.rows) {
			end++
		}
		if end >= limit {
			return
		}
		s.reportLine(g, g.first, end, true)
		g.first = end + 1
	}
}

// reportAll reports all rows that have text. open says that the last one may continue.
func (s *Screen) reportAll(open bool) {
	g := s.grid()
	n := len(g.rows)
	for n > 0 && g.rows[n-1].empty() && !g.rows[n-1].fed {
		n--
	}
	for i := g.first; i < n; {
		end := i
		for g.rows[end].wrapped && end+1 < n {
			end++
		}
		s.reportLine(g, i, end, !open || end < len(g.rows)-1 || g.rows[end].fed)
		i = end + 1
	}
	g.first = n
	if open {
		g.first = max(0, min(n, len(g.rows)-1))
	}
}

// reportLine reports the line that begins in the row at begin and ends in the one at
// end, if there is something new.
func (s *Screen) reportLine(g *grid, begin, end int, ends bool) {
	if !slices.ContainsFunc(g.rows[begin:end+1], func(r *row) bool { return !r.left }) {
		s.end(g.rows[end], ends)
		return
	}
	for i := begin; i <= end; i++ {
		s.report(g, i, ends && i == end)
	}
}

// end reports the end of a line whose text was reported, if it ends.
func (s *Screen) end(r *row, ends bool) {
	if ends && !r.ended {
		r.ended = true
		s.give(Line{Time: r.time, Ends: true})
	}
}

func (s *Screen) leave(g *grid, y int) {
	r := g.rows[y]
	if r.left {
		s.end(r, !r.wrapped)
	} else {
		s.report(g, y, !r.wrapped)
	}
	if r.wrapped && y+1 < len(g.rows) {
		g.rows[y+1].continues = true
	}
}

func (s *Screen) report(g *grid, y int, ends bool) {
	r := g.rows[y]
	if g.fresh && r.empty() && !r.fed {
		// An empty screen has no lines.
		r.left, r.ended = true, true
		return
	}
	g.fresh = false
	text := r.text
	if r.inCells || s.Colours {
		s.buf = r.render(s.buf[:0], r.shown, s.Colours)
		text = s.buf
	} else {
		text = text[r.shown:]
	}
	l := Line{
		Text: text, Time: r.time, Ends: ends,
		Begins: r.shown == 0 && !r.continues && (y == 0 || !g.rows[y-1].wrapped),
	}
	if l.Time.IsZero() {
		l.Time = s.now
	}
	if len(text) > 0 || l.Begins || l.Ends {
		s.give(l)
	}
	r.left, r.ended, r.shown = true, ends, len(r.text)
}
