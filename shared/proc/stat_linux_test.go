package proc

import "testing"

// A process may call itself anything.
func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " S 1 2 3 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0 18446744073709551615 0\n"
	for _, name := range []string{"sh", "", ") S 9 9 9", "a b\nc", "(((", ")"} {
		p, ok := parseStat([]byte("42 (" + name + ")" + rest))
		if !ok || p.Name != name || p.PID != 42 || p.State != 'S' || p.Parent != 1 || p.Group != 2 || p.Session != 3 || p.Start != 777 {
			t.Errorf("%q: %+v, %v", name, p, ok)
		}
	}
	for _, line := range []string{"", "42", "42 (sh)", "42 (sh) S", "42 (sh) S 1 2 3", "x (sh)" + rest, "42 (sh) S x 2 3 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 777 0", "(sh)" + rest} {
		if p, ok := parseStat([]byte(line)); ok {
			t.Errorf("%q is read as %+v", line, p)
		}
	}
}
