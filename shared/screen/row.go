package screen

import (
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/swarmhost/swarm/shared/sgr"
)

// A cell holds a rune, or one of these.
const (
	// blank was never written, or erased.
	blank rune = 0
	// tail belongs to the wide letter or the tab before it.
	tail rune = -1
	// rawByte minus a byte is a byte that is not UTF-8.
	rawByte rune = -2
	// cluster plus an index is a letter with its combining marks in row.clusters.
	cluster rune = utf8.MaxRune + 1
)

const (
	// maxRaw is how long the text of a row may be before it is reported in pieces.
	maxRaw = 4 << 10
	// maxCluster is how many bytes a letter may have with its combining marks.
	maxCluster = 64
	tabWidth   = 8
)

// row is one row of a screen. As long as a program only adds to its end, the row is
// its text, byte for byte; the first change elsewhere turns it into cells.
type row struct {
	text []byte
	// spans say from where on in text the styles hold.
	spans []span

	inCells bool
	cells   []rune
	// styles has one for each cell, if colours are kept.
	styles   []sgr.Style
	clusters []string

	// time is when the first text since the last report was written.
	time time.Time
	// continues says that its line began in what was reported before.
	continues bool
	// wrapped says that the next row continues with the same line.
	wrapped bool
	// fed says that a line feed left the row.
	fed bool
	// left says that the row was reported and not changed since, ended that its line
	// was, and shown is how much of its text was while the line was open.
	left, ended bool
	shown       int
}

type span struct {
	at    int
	style sgr.Style
}

func (r *row) reset() {
	*r = row{text: r.text[:0], spans: r.spans[:0], cells: r.cells[:0], styles: r.styles[:0], clusters: r.clusters[:0]}
}

// clear takes everything out of the row. A row that was reported need not be reported
// again as an empty one.
func (r *row) clear() {
	left, at := r.left || r.shown > 0, r.time
	r.reset()
	r.left, r.ended, r.time = left, left, at
}

func (r *row) empty() bool {
	if !r.inCells {
		return len(r.text) == 0
	}
	return r.written() == 0
}

// written returns how many cells there are without blank ones at the end.
func (r *row) written() int {
	n := len(r.cells)
	for n > 0 && (r.cells[n-1] == blank || r.cells[n-1] == ' ') {
		n--
	}
	return n
}

// changed notes that the row has to be reported again.
func (r *row) changed(now time.Time) {
	if r.left || r.empty() {
		r.time = now
	}
	r.left, r.ended, r.shown = false, false, 0
}

// add adds to the end of a row that is text.
func (r *row) add(data []byte, st sgr.Style, now time.Time) {
	if r.ended {
		r.ended, r.shown = false, 0
		r.time = now
	} else if len(r.text) == 0 || r.left {
		r.time = now
	}
	r.left = false
	// Bytes that were apart in the output must not become a control character.
	for len(r.text) > 0 && r.text[len(r.text)-1] == 0xc2 && len(data) > 0 && isC1(data[0]) {
		data = data[1:]
	}
	if len(data) == 0 {
		return
	}
	r.style(st)
	r.text = append(r.text, data...)
}

// style sets the style for what is added next.
func (r *row) style(st sgr.Style) {
	n := len(r.spans)
	switch {
	case n == 0 && st == sgr.Style{}, n > 0 && r.spans[n-1].style == st:
	case n > 0 && r.spans[n-1].at == len(r.text):
		r.spans[n-1].style = st
	default:
		r.spans = append(r.spans, span{len(r.text), st})
	}
}

func isC1(b byte) bool { return b >= 0x80 && b <= 0x9f }

// toCells makes cells of the text. colours says that styles are kept.
func (r *row) toCells(colours bool) {
	if r.inCells {
		return
	}
	r.inCells = true
	r.cells, r.styles, r.clusters = r.cells[:0], r.styles[:0], r.clusters[:0]
	spans, st := r.spans, sgr.Style{}
	for i := 0; i < len(r.text); {
		for len(spans) > 0 && spans[0].at <= i {
			st, spans = spans[0].style, spans[1:]
		}
		c, n := utf8.DecodeRune(r.text[i:])
		if c == utf8.RuneError && n == 1 {
			c = rawByte - rune(r.text[i])
		}
		i += n
		switch w := r.width(len(r.cells), c); {
		case w == 0 && r.join(len(r.cells), c):
		default:
			r.push(c, max(w, 1), st, colours)
		}
	}
	r.text, r.spans = r.text[:0], r.spans[:0]
}

func (r *row) push(c rune, w int, st sgr.Style, colours bool) {
	r.cells = append(r.cells, c)
	for range w - 1 {
		r.cells = append(r.cells, tail)
	}
	for colours && len(r.styles) < len(r.cells) {
		r.styles = append(r.styles, st)
	}
}

// width returns how many cells c takes at column x; 0: it joins the letter before.
func (r *row) width(x int, c rune) int {
	switch {
	case c == '\t' && x < maxRaw/2:
		return tabWidth - x%tabWidth
	case c < 0x300:
		return 1
	case joins(c) || x > 0 && r.joiner(x-1):
		return 0
	}
	return runeWidth(c)
}

// lead returns where the letter begins that has a cell at x.
func (r *row) lead(x int) int {
	for x > 0 && r.cells[x] == tail {
		x--
	}
	return x
}

// joiner reports whether the letter at x ends in a zero-width joiner.
func (r *row) joiner(x int) bool {
	c := r.cells[r.lead(x)]
	if c < cluster {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(r.clusters[c-cluster])
	return last == '\u200d'
}

// join adds a combining mark to the letter before x and reports whether there is one.
func (r *row) join(x int, c rune) bool {
	if x == 0 || x > len(r.cells) {
		return false
	}
	at := r.lead(x - 1)
	base := ""
	switch b := r.cells[at]; {
	case b >= cluster:
		base = r.clusters[b-cluster]
	case b > ' ':
		base = string(b)
	default:
		return false
	}
	if len(base)+utf8.RuneLen(c) > maxCluster {
		return true
	}
	r.tidy()
	r.clusters = append(r.clusters, base+string(c))
	r.cells[at] = cluster + rune(len(r.clusters)-1)
	return true
}

// adopt gives the row its own of the clusters of another one, whose cells it has.
func (r *row) adopt(clusters []string) {
	for i, c := range r.cells {
		if c >= cluster {
			r.clusters = append(r.clusters, clusters[c-cluster])
			r.cells[i] = cluster + rune(len(r.clusters)-1)
		}
	}
}

func (r *row) tidy() {
	if len(r.clusters) < 64+2*len(r.cells) {
		return
	}
	all := r.clusters
	r.clusters = nil
	r.adopt(all)
}

// extend makes the row at least n cells long.
func (r *row) extend(n int, colours bool) {
	if more := n - len(r.cells); more > 0 {
		r.cells = slices.Grow(r.cells, more)[:n]
		clear(r.cells[n-more:])
	}
	if more := len(r.cells) - len(r.styles); colours && more > 0 {
		r.styles = slices.Grow(r.styles, more)[:len(r.cells)]
		clear(r.styles[len(r.cells)-more:])
	}
}

// open makes cells from up to to free: a wide letter that is only partly in them goes.
func (r *row) open(from, to int) {
	for _, x := range []int{from, to} {
		if x >= len(r.cells) || r.cells[x] != tail {
			continue
		}
		begin := r.lead(x)
		end := x
		for end < len(r.cells) && r.cells[end] == tail {
			end++
		}
		r.blank(begin, end)
	}
}

func (r *row) blank(from, to int) {
	for x := from; x < min(to, len(r.cells)); x++ {
		r.cells[x] = blank
		if x < len(r.styles) {
			r.styles[x] = sgr.Style{}
		}
	}
}

// set puts a letter of w cells at x.
func (r *row) set(x int, c rune, w int, st sgr.Style, colours bool) {
	r.extend(x, colours)
	r.open(x, x+w)
	r.extend(x+w, colours)
	r.cells[x] = c
	for i := range w {
		if i > 0 {
			r.cells[x+i] = tail
		}
		if colours {
			r.styles[x+i] = st
		}
	}
}

// insert puts n blank cells at x, and takes out what goes over the width.
func (r *row) insert(x, n, width int, colours bool) {
	if x >= len(r.cells) {
		return
	}
	r.open(x, x)
	if n = min(n, width-x); n <= 0 {
		return
	}
	old := len(r.cells)
	r.extend(old+n, colours)
	copy(r.cells[x+n:], r.cells[x:old])
	if colours {
		copy(r.styles[x+n:], r.styles[x:old])
	}
	r.blank(x, x+n)
	if len(r.cells) > width {
		r.open(width, width)
		r.cut(width)
	}
}

// remove takes out n cells at x.
func (r *row) remove(x, n int) {
	if x >= len(r.cells) {
		return
	}
	n = min(n, len(r.cells)-x)
	r.open(x, x+n)
	r.cells = append(r.cells[:x], r.cells[x+n:]...)
	if len(r.styles) >= x+n {
		r.styles = append(r.styles[:x], r.styles[x+n:]...)
	}
}

func (r *row) cut(n int) {
	r.cells = r.cells[:min(n, len(r.cells))]
	r.styles = r.styles[:min(n, len(r.styles))]
}

// render appends the text of the row from the byte at from on.
func (r *row) render(out []byte, from int, colours bool) []byte {
	if !r.inCells {
		return r.renderText(out, from, colours)
	}
	n := r.written()
	if r.wrapped {
		for n = len(r.cells); n > 0 && r.cells[n-1] == blank; n-- {
		}
	}
	var now sgr.Style
	begin := len(out)
	for x, c := range r.cells[:n] {
		if c == tail {
			continue
		}
		if colours && r.styles[x] != now {
			out = r.styles[x].Append(out, now)
			now = r.styles[x]
		}
		switch {
		case c == blank:
			out = append(out, ' ')
		case c >= cluster:
			out = append(out, r.clusters[c-cluster]...)
		case c > 0:
			out = utf8.AppendRune(out, c)
		default:
			if b := byte(rawByte - c); !isC1(b) || len(out) == begin || out[len(out)-1] != 0xc2 {
				out = append(out, b)
			}
		}
	}
	return sgr.Style{}.Append(out, now)
}

func (r *row) renderText(out []byte, from int, colours bool) []byte {
	if !colours {
		return append(out, r.text[min(from, len(r.text)):]...)
	}
	var now sgr.Style
	spans := r.spans
	for len(spans) > 0 && spans[0].at <= from {
		now, spans = spans[0].style, spans[1:]
	}
	if from >= len(r.text) {
		return out
	}
	out = now.Append(out, sgr.Style{})
	for ; len(spans) > 0; spans = spans[1:] {
		out = append(out, r.text[from:spans[0].at]...)
		from = spans[0].at
		if from < len(r.text) {
			out = spans[0].style.Append(out, now)
			now = spans[0].style
		}
	}
	out = append(out, r.text[from:]...)
	return sgr.Style{}.Append(out, now)
}

// joins reports whether c is shown in the cell of the letter before it.
func joins(c rune) bool {
	switch {
	case c >= 0x1160 && c <= 0x11ff: // vowels and finals of Hangul syllables
		return true
	case c >= 0x200b && c <= 0x200f, c >= 0x2060 && c <= 0x2064, c == 0xfeff:
		return true
	case c >= 0x1f3fb && c <= 0x1f3ff: // skin tones
		return true
	case c < 0x2e80 || c >= 0xa66f:
		return unicode.In(c, unicode.Mn, unicode.Me)
	}
	return false
}

// runeWidth returns how many cells a letter takes that has its own.
func runeWidth(c rune) int {
	if c < 0x1100 {
		return 1
	}
	switch width.LookupRune(c).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
