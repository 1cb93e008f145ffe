package profile

// The parts of a screen that a rule can be restricted to.
const (
	inAbove  = "above"
	inInput  = "input"
	inFooter = "footer"
	inFrame  = "frame"
)

var regions = []string{inAbove, inInput, inFooter, inFrame}

// region returns the range of the lines to which the rule applies, or why there is none.
func (r *rule) region(v view, shape *dialogShape) (lo, hi int, why string) {
	hi = len(v.lines)
	if v.prompt < 0 && (r.in == inAbove || r.in == inInput || r.in == inFooter) {
		return 0, 0, "no prompt is shown"
	}
	switch r.in {
	case inAbove:
		hi = v.prompt
	case inInput:
		lo, hi = v.prompt, v.end
	case inFooter:
		lo = v.end
	case inFrame:
		edge := shape.top
		if edge == nil {
			edge = unframedTop()
		}
		lo = lastIndex(v.lines, edge) + 1
		if lo == 0 {
			return 0, 0, "no line of a frame is shown"
		}
	}
	if r.from != nil {
		if v.prompt >= 0 {
			hi = min(hi, v.prompt)
		}
		lo = max(lo, lastIndex(v.lines[:hi], r.from)+1)
	}
	if r.last == 0 {
		return min(lo, hi), hi, ""
	}
	left := r.last
	for i := hi - 1; i >= lo; i-- {
		if v.lines[i] == "" {
			continue
		}
		if left--; left == 0 {
			return i, hi, ""
		}
	}
	return min(lo, hi), hi, ""
}
