package sgr

import "strconv"

// Colour is a colour of letters. The zero value is the terminal's own.
type Colour uint32

// A colour is of one of these kinds, with its value in the lower 24 bits.
const (
	basic   Colour = 1 << 24 // 0 to 15
	indexed Colour = 2 << 24 // 0 to 255
	direct  Colour = 3 << 24 // red, green, blue
	kind    Colour = 0xff << 24
)

// Names are the names that [Colour.Name] returns. An exact colour is not known: programs choose
// it by their theme, and terminals with fewer colours get a similar one.
var Names = []string{"default", "black", "grey", "white", "red", "orange", "yellow", "green", "cyan", "blue", "magenta"}

// basicNames are the names of the 16 basic colours.
var basicNames = [...]string{
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"grey", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
}

// Name returns one of [Names]. "default" is the terminal's own; "black", "grey" and "white" are
// those without a hue.
func (c Colour) Name() string {
	switch v := int(c &^ kind); {
	case c == 0:
		return "default"
	case c&kind == direct:
		return hue(v>>16, v>>8&0xff, v&0xff)
	case v < len(basicNames):
		return basicNames[v]
	default:
		return hue(RGB(v))
	}
}

// hue returns the name of a colour.
func hue(r, g, b int) string {
	highest, lowest := max(r, g, b), min(r, g, b)
	chroma := highest - lowest
	switch {
	case highest < 48:
		return "black"
	case chroma*8 <= highest && lowest >= 216:
		return "white"
	case chroma*8 <= highest:
		return "grey"
	}
	var degrees int
	switch highest {
	case r:
		degrees = (60*(g-b)/chroma + 360) % 360
	case g:
		degrees = 60*(b-r)/chroma + 120
	default:
		degrees = 60*(r-g)/chroma + 240
	}
	for _, h := range []struct {
		below int
		name  string
	}{{12, "red"}, {45, "orange"}, {70, "yellow"}, {165, "green"}, {200, "cyan"}, {260, "blue"}, {335, "magenta"}} {
		if degrees < h.below {
			return h.name
		}
	}
	return "red"
}

// cube are the values of the palette's 6×6×6 cube.
var cube = [...]int{0, 95, 135, 175, 215, 255}

// RGB returns the values of a colour of the palette of 256. The first 16 have none of their own,
// since each terminal chooses them.
func RGB(n int) (r, g, b int) {
	if n >= 232 {
		grey := 8 + 10*(n-232)
		return grey, grey, grey
	}
	n = max(n-16, 0)
	return cube[n/36], cube[n/6%6], cube[n%6]
}

// Palette returns the colour of the palette of 256 that is most like c; ok is false for the
// terminal's own.
func (c Colour) Palette() (n int, ok bool) {
	v := int(c &^ kind)
	if c&kind != direct {
		return v, c != 0
	}
	r, g, b := v>>16, v>>8&0xff, v&0xff
	distance := func(n int) int {
		r2, g2, b2 := RGB(n)
		return (r-r2)*(r-r2) + (g-g2)*(g-g2) + (b-b2)*(b-b2)
	}
	step := func(v int) int {
		best := 0
		for i, s := range cube {
			if abs(v-s) < abs(v-cube[best]) {
				best = i
			}
		}
		return best
	}
	coloured := 16 + 36*step(r) + 6*step(g) + step(b)
	grey := 232 + min(max(((r+g+b)/3-8+5)/10, 0), 23)
	if distance(grey) < distance(coloured) {
		return grey, true
	}
	return coloured, true
}

func abs(n int) int { return max(n, -n) }

// appendTo appends the parameters that set the colour, with a semicolon behind them. base is 30
// for text, 40 for what is behind it, 50 for underlines.
func (c Colour) appendTo(out []byte, base int) []byte {
	v := int(c &^ kind)
	r, g, b := v>>16, v>>8&0xff, v&0xff
	switch {
	case base == 50:
		// A terminal that does not know these must not take their parts for other codes.
		if c&kind == indexed {
			return appendNumbers(append(out, "58:5:"...), ';', v)
		}
		out = appendNumbers(append(out, "58:2::"...), ':', r, g, b)
		out[len(out)-1] = ';'
		return out
	case c&kind == basic && v >= 8:
		return appendNumbers(out, ';', base+60+v-8)
	case c&kind == basic:
		return appendNumbers(out, ';', base+v)
	case c&kind == indexed:
		return appendNumbers(out, ';', base+8, 5, v)
	case c&kind == direct:
		return appendNumbers(out, ';', base+8, 2, r, g, b)
	}
	return out // the terminal's own
}

// appendNumbers appends numbers, each with end behind it.
func appendNumbers(out []byte, end byte, numbers ...int) []byte {
	for _, n := range numbers {
		out = append(strconv.AppendInt(out, int64(n), 10), end)
	}
	return out
}

// basicColour returns the colour that a parameter with its base taken off stands for: 0 to 7, or 60
// to 67 for the bright ones.
func basicColour(n int) Colour {
	if n >= 60 {
		n -= 60 - 8
	}
	return basic | Colour(n)
}

// colourOf returns the colour that ps begin with, and how many of them it takes.
func colourOf(ps Params) (Colour, int) {
	part := func(i int) Colour { return Colour(min(ps.At(i), 255)) }
	switch ps.At(0) {
	case 5:
		return indexed | part(1), min(2, len(ps))
	case 2:
		return direct | part(1)<<16 | part(2)<<8 | part(3), min(4, len(ps))
	}
	return 0, len(ps)
}
