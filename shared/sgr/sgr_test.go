package sgr

import "testing"

func TestCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]string{
		"":                         {},
		"plain":                    {"plain"},
		"a\x1b[31mb\x1b[mc":        {"a", "\x1b[31m", "b\x1b[mc"},
		"\x1b[m":                   {"", "\x1b[m", ""},
		"\x1b[2J\x1b[4:3mx":        {"\x1b[2J", "\x1b[4:3m", "x"},
		"\x1b[3\x1b[1;mx":          {"\x1b[3", "\x1b[1;m", "x"},
		"\x1b[31":                  {"\x1b[31"},
		"\x1b[":                    {"\x1b["},
		"\x1b]0;t\x07\x1b[38;5;1m": {"\x1b]0;t\x07", "\x1b[38;5;1m", ""},
	} {
		before, sequence, after := Cut(text)
		if got := [3]string{before, sequence, after}; got != want {
			t.Errorf("Cut(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestPalette(t *testing.T) {
	t.Parallel()
	for sequence, want := range map[string]int{
		"\x1b[m": -1, "\x1b[31m": 1, "\x1b[92m": 10, "\x1b[38;5;208m": 208, "\x1b[38;5;9999m": 255,
		"\x1b[38;2;255;135;0m": 208, "\x1b[38:2::18:18:18m": 233, "\x1b[38m": -1, "\x1b[38;5m": 0,
	} {
		var s Style
		s.Read(sequence)
		n, ok := s.Text.Palette()
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%q is colour %d, want %d", sequence, n, want)
		}
	}
}

func TestHue(t *testing.T) {
	t.Parallel()
	for want, colours := range map[string][][3]int{
		"black": {{0, 0, 0}, {20, 20, 30}}, "grey": {{68, 68, 68}, {136, 136, 136}, {175, 180, 190}}, "white": {{255, 255, 255}, {220, 225, 230}},
		"red":    {{255, 0, 0}, {255, 107, 128}, {205, 49, 49}},
		"orange": {{215, 119, 87}, {255, 165, 0}}, "yellow": {{255, 193, 7}, {255, 255, 0}},
		"green": {{78, 186, 101}, {0, 255, 0}}, "cyan": {{0, 255, 255}, {72, 150, 140}},
		"blue": {{0, 0, 255}, {177, 185, 249}}, "magenta": {{253, 93, 177}, {255, 0, 255}},
	} {
		for _, c := range colours {
			if got := hue(c[0], c[1], c[2]); got != want {
				t.Errorf("%v is %s, want %s", c, got, want)
			}
		}
	}
}
