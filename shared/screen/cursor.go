package screen

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

func (s *Screen) grid() *grid {
	g := &s.main
	if s.alt {
		g = &s.other
	}
	if len(g.rows) == 0 {
		*g = grid{rows: g.rows, x: atEnd, fresh: true}
		g.grow()
	}
	return g
}

// grow adds an empty row, one that was taken off the end if there is one.
func (g *grid) grow() {
	if n := len(g.rows); n < cap(g.rows) && g.rows[:n+1][n] != nil {
		g.rows = g.rows[:n+1]
		g.rows[n].reset()
		return
	}
	g.rows = append(g.rows, &row{})
}

func (s *Screen) height() int {
	if s.rows > 0 {
		return s.rows
	}
	return DefaultRows
}

func (s *Screen) width() int {
	if s.columns > 0 {
		return s.columns
	}
	return maxRaw
}

// align makes rows of the screen's width of all text, and does a carriage return that
// is due: what comes next depends on where the cursor is.
func (s *Screen) align() {
	if s.loose {
		s.loose = false
		s.layout()
	}
	if s.cr {
		s.cr = false
		s.toColumn(0)
	}
}

func (s *Screen) layout() {
	g := s.grid()
	for i := 0; s.columns > 0 && i < len(g.rows); i++ {
		r := g.rows[i]
		if r.inCells || len(r.text) <= s.columns && bytes.IndexByte(r.text, '\t') < 0 {
			continue
		}
		r.shown = 0
		atCursor := i == g.y && g.x == atEnd
		r.toCells(s.styled())
		added := s.wrapRow(g, i)
		switch {
		case atCursor:
			g.y += added
			s.atEndOf(g.rows[g.y])
		case g.y > i:
			g.y += added
		}
		if g.first > i {
			g.first += added
		}
		i += added
	}
	for len(g.rows) > s.height() {
		s.dropTop(g)
	}
}

// dropTop takes the first row out, and reports it.
func (s *Screen) dropTop(g *grid) {
	s.leave(g, 0)
	g.rows = g.rows[1:]
	g.y, g.first = max(0, g.y-1), max(0, g.first-1)
}

// wrapRow splits the row at i and returns how many it became more.
func (s *Screen) wrapRow(g *grid, i int) int {
	r := g.rows[i]
	var pieces []*row
	cells, styles := r.cells, r.styles
	for last := r; len(cells) > s.columns; {
		at := s.columns
		for at > 0 && cells[at] == tail {
			at--
		}
		if at == 0 {
			at = s.columns
		}
		next := &row{inCells: true, time: r.time, fed: r.fed, left: r.left, ended: r.ended}
		last.wrapped, last.fed = true, false
		cells = cells[at:]
		next.cells = slices.Clone(cells[:min(len(cells), s.columns)])
		if s.styled() {
			styles = styles[at:]
			next.styles = slices.Clone(styles[:min(len(styles), s.columns)])
		}
		if len(pieces) == 0 {
			defer r.cut(at)
		} else {
			last.cut(at)
		}
		pieces = append(pieces, next)
		last = next
	}
	for _, p := range pieces {
		p.adopt(r.clusters)
	}
	g.rows = slices.Insert(g.rows, i+1, pieces...)
	return len(pieces)
}

func (s *Screen) atEndOf(r *row) {
	g := s.grid()
	g.x, g.past = len(r.cells), false
	if w := s.width(); g.x >= w {
		g.x, g.past = w-1, true
	}
}

// column returns where the cursor is.
func (s *Screen) column() int {
	if s.grid().x == atEnd {
		s.cellRow()
	}
	return s.grid().x
}

// cellRow returns the row of the cursor, as cells.
func (s *Screen) cellRow() *row {
	s.align()
	g := s.grid()
	r := g.rows[g.y]
	r.toCells(s.styled())
	if g.x == atEnd {
		s.atEndOf(r)
	}
	return r
}

func (s *Screen) toColumn(x int) {
	g := s.grid()
	g.x, g.past = x, false
	if r := g.rows[g.y]; x == 0 && !r.inCells && len(r.text) == 0 {
		g.x = atEnd
	}
}

func (s *Screen) moveTo(y, x int) {
	g := s.grid()
	s.moved = true
	s.grow(y)
	y = min(max(y, 0), s.height()-1)
	s.need(y)
	up := g.y - y
	for n := len(g.rows) - 1; n > y && g.rows[n].empty() && !g.rows[n].fed; n-- {
		g.rows = g.rows[:n]
	}
	s.budget.work(len(g.rows) / 4) // each is looked at
	g.first = min(g.first, len(g.rows))
	if !g.blank() {
		s.back(max(up, len(g.rows)-1-y))
	}
	g.y = y
	r := g.rows[y]
	s.toColumn(min(max(x, 0), s.right(max(len(r.text), len(r.cells)))))
}

// right returns the last column that the cursor can be moved to if used columns are in use.
func (s *Screen) right(used int) int {
	if s.columns > 0 {
		return s.columns - 1
	}
	return min(max(farthest, used), maxRaw) - 1
}

// grow makes space for the row at y if the height is only guessed.
func (s *Screen) grow(y int) {
	if !s.sized && y >= s.height() && y < maxRows {
		s.rows = y + 1
	}
}

// need makes the rows down to y.
func (s *Screen) need(y int) {
	g := s.grid()
	for len(g.rows) <= y {
		s.budget.work(rowWork)
		g.grow()
	}
}

// rowWork is how many steps it takes to make a row.
const rowWork = 8

// blank reports whether there is nothing on the screen.
func (g *grid) blank() bool {
	return !slices.ContainsFunc(g.rows, func(r *row) bool { return !r.empty() })
}

// back notes that the program went back by n lines.
func (s *Screen) back(n int) {
	if n > 0 {
		s.reach, s.forward = max(s.reach, n), 0
	}
}

// bounds returns the first and the last row of the scroll region.
func (s *Screen) bounds() (top, bottom int) {
	if s.region {
		return s.top, min(s.bottom, s.height()-1)
	}
	return 0, s.height() - 1
}

// move does the sequences that move the cursor, and reports whether final is one.
func (s *Screen) move(final byte) bool {
	n := s.seq.number(0)
	switch final {
	case 'A', 'F':
		s.vertical(-n, final == 'F')
	case 'B', 'E', 'e':
		s.vertical(n, final == 'E')
	case 'C', 'a':
		s.align()
		x := s.column()
		s.toColumn(min(x+n, s.right(x+1)))
	case 'D':
		s.align()
		s.toColumn(max(s.column()-n, 0))
	case 'G', '`':
		s.align()
		r := s.grid().rows[s.grid().y]
		s.toColumn(min(n-1, s.right(max(len(r.text), len(r.cells)))))
	case 'H', 'f':
		s.align()
		s.moveTo(s.row(n-1), s.seq.number(1)-1)
	case 'd':
		s.align()
		s.moveTo(s.row(n-1), s.column())
	case 'I', 'Z':
		s.align()
		x := s.column()
		for range min(n, maxColumns) {
			if final == 'I' && x > s.right(0) || final == 'Z' && x == 0 {
				break
			}
			if final == 'I' {
				x += tabWidth - x%tabWidth
			} else {
				x = max(0, (x-1)/tabWidth*tabWidth)
			}
		}
		s.toColumn(min(x, s.right(0)))
	default:
		return false
	}
	return true
}

// row returns the row that a program means by y.
func (s *Screen) row(y int) int {
	if s.origin {
		top, bottom := s.bounds()
		return min(top+y, bottom)
	}
	return y
}

// vertical moves the cursor by n rows, not out of the scroll region.
func (s *Screen) vertical(n int, home bool) {
	s.align()
	g := s.grid()
	x := s.column()
	if home {
		x = 0
	}
	top, bottom := s.bounds()
	y := g.y + n
	if n < 0 && g.y >= top {
		y = max(y, top)
	}
	if n > 0 && g.y <= bottom {
		y = min(y, bottom)
	}
	s.moveTo(min(y, s.height()-1), x)
}

// down goes to the next row, in the same column, and scrolls at the end.
func (s *Screen) down() {
	g := s.grid()
	g.past = false
	switch _, bottom := s.bounds(); {
	case g.y == bottom:
		top, _ := s.bounds()
		s.scrollUp(top, bottom, 1)
	case g.y < s.height()-1:
		g.y++
		s.need(g.y)
	}
}

// up goes to the row above, in the same column, and scrolls at the top.
func (s *Screen) up() {
	s.align()
	g := s.grid()
	x := s.column()
	if top, bottom := s.bounds(); g.y == top {
		s.scrollDown(top, bottom, 1)
		s.toColumn(x)
	} else {
		s.moveTo(g.y-1, x)
	}
}

func (s *Screen) save() {
	s.align()
	x := s.column()
	g := s.grid()
	g.saved = saved{y: g.y, x: x, style: s.style}
}

func (s *Screen) restore() {
	s.align()
	g := s.grid()
	s.style = g.saved.style
	s.moveTo(g.saved.y, g.saved.x)
}

func (s *Screen) print(data []byte) {
	if s.cr {
		s.align()
	}
	g := s.grid()
	r := g.rows[g.y]
	if g.x == atEnd && !r.inCells && g.y == len(g.rows)-1 && !s.alt && !s.region && !s.inserting && !s.graphics[s.shift] && (!s.noWrap || s.columns == 0) {
		s.add(g, r, data)
		return
	}
	for len(data) > 0 {
		if n := s.ascii(data); n > 0 {
			data = data[n:]
			continue
		}
		c, n := utf8.DecodeRune(data)
		if c == utf8.RuneError && n == 1 {
			c = rawByte - rune(data[0])
		}
		s.put(c)
		data = data[n:]
	}
}

// ascii writes the letters that data begins with, if they are mere ASCII and fit into
// the row, and returns how many there are. It does what put does, faster.
func (s *Screen) ascii(data []byte) int {
	if s.inserting || s.graphics[s.shift] {
		return 0
	}
	r := s.cellRow()
	g := s.grid()
	if g.past {
		return 0
	}
	n, space := 0, min(len(data), s.width()-g.x-1)
	for n < space && data[n] >= ' ' && data[n] < 0x7f {
		n++
	}
	if n <= 0 {
		return 0
	}
	s.touch(g.y)
	r.extend(g.x, s.styled())
	r.open(g.x, g.x+n)
	r.extend(g.x+n, s.styled())
	for i, b := range data[:n] {
		r.cells[g.x+i] = rune(b)
	}
	if s.styled() {
		for i := range n {
			r.styles[g.x+i] = s.style
		}
	}
	g.x += n
	s.last = rune(data[n-1])
	return n
}

// add adds text to the last row.
func (s *Screen) add(g *grid, r *row, data []byte) {
	g.first = min(g.first, g.y)
	s.last = lastOfText
	for len(data) > 0 {
		n := len(data)
		if space := maxRaw - len(r.text); n > space {
			n = whole(data, space)
		}
		r.add(data[:n], s.style, s.now)
		if data = data[n:]; len(data) > 0 {
			s.piece(g, r)
		}
	}
	s.loose = s.loose || s.columns > 0 && (len(r.text) > s.columns/tabWidth)
}

// whole returns n, or less if a letter of data would be cut.
func whole(data []byte, n int) int {
	for back := 1; back < utf8.UTFMax && back <= n; back++ {
		if _, size := utf8.DecodeRune(data[n-back:]); size > back {
			return n - back
		}
	}
	return n
}

// piece reports the text of the last row as a piece of its line, which continues.
func (s *Screen) piece(g *grid, r *row) {
	for i := g.first; i < g.y; i++ {
		s.reportLine(g, i, i, !g.rows[i].wrapped)
	}
	s.report(g, g.y, false)
	at := r.time
	r.reset()
	r.continues, r.time = true, at
	g.first = g.y
}

func (s *Screen) put(c rune) {
	if c == '\t' {
		s.tab()
		return
	}
	if s.graphics[s.shift] && (s.moved || s.alt) && c >= '`' && c <= '~' {
		c = graphics[c-'`']
	}
	r := s.cellRow()
	g := s.grid()
	end := g.x
	if g.past {
		end++
	}
	w := r.width(min(end, len(r.cells)), c)
	if w == 0 {
		if end <= len(r.cells) && r.join(end, c) {
			s.touch(g.y)
			return
		}
		w = 1
	}
	width := s.width()
	if g.past || g.x+w > width {
		if s.noWrap || w > width {
			g.x = max(width-w, 0)
		} else {
			r.wrapped, r.fed = true, false
			s.down()
			g.x = 0
			s.advance()
			r = s.cellRow()
		}
	}
	s.touch(g.y)
	if s.inserting {
		r.insert(g.x, w, width, s.styled())
	}
	r.set(g.x, c, w, s.style, s.styled())
	s.last = c
	g.past = false
	if g.x += w; g.x >= width {
		g.x, g.past = width-1, true
	}
}

// graphics are the letters from ` to ~ in the line drawing set.
var graphics = []rune("◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
