package output

import (
	"bytes"
	"strings"
	"testing"
)

func TestTableFits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 64)
	rows := func() [][]Cell {
		return [][]Cell{
			{Text(long, Normal), {{"●", Green}, {" running", Green}, {" 2h", Faint}}, Text("1", Normal), Text("make 日本語 a b c d e f g h i j k l", Normal)},
			{Text("w", Normal), {{"■", Faint}, {" killed", Faint}}, Text("12", Normal), Text("", Normal)},
		}
	}
	columns := []Column{{Header: "NAME", Least: 12}, {Header: "STATE"}, {Header: "N", Right: true}, {Header: "COMMAND", Least: 12}}
	for _, width := range []int{0, 200, 100, 80, 60, 40, 20, 5, 1} {
		for _, colours := range []bool{false, true} {
			lines := Table{Columns: columns, Rows: rows(), Width: width, Colours: colours}.Lines()
			if len(lines) != 3 {
				t.Fatalf("%d lines", len(lines))
			}
			for _, line := range lines {
				bare := line
				for _, s := range []Style{Faint, Green} {
					bare = strings.ReplaceAll(bare, "\x1b["+string(s)+"m", "")
				}
				bare = strings.ReplaceAll(bare, "\x1b[0m", "")
				if width > 0 && Columns(bare) > width {
					t.Errorf("in %d columns: %d: %q", width, Columns(bare), line)
				}
				if strings.HasSuffix(bare, " ") {
					t.Errorf("blanks at the end: %q", line)
				}
			}
		}
	}
	want := strings.Join([]string{
		"NAME                  STATE          N  COMMAND",
		"nnnnnnnnnnnnnnnnnnn…  ● running 2h   1  make 日本語 a b c d…",
		"w                     ■ killed      12",
	}, "\n")
	if got := strings.Join(Table{Columns: columns, Rows: rows(), Width: 60}.Lines(), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	columns[0].Least, columns[2].Spare, columns[3].Least = 20, true, 20
	want = strings.Join([]string{
		"NAME                  STATE         COMMAND",
		"nnnnnnnnnnnnnnnnnnn…  ● running 2h  make 日本語 a b c d…",
		"w                     ■ killed",
	}, "\n")
	if got := strings.Join(Table{Columns: columns, Rows: rows(), Width: 56}.Lines(), "\n"); got != want {
		t.Errorf("without a column to spare: got\n%s\nwant\n%s", got, want)
	}
	var b bytes.Buffer
	(&Printer{Out: &Stream{W: &b}}).PrintFitted(Table{Columns: columns, NoHeader: true, Rows: rows()[1:], Plain: true})
	if got := b.String(); got != "w  ■ killed  12\n" {
		t.Errorf("%q", got)
	}
	if lines := (Table{Columns: columns}).Lines(); lines != nil {
		t.Errorf("without rows: %q", lines)
	}
}

// Text of others gets no escape sequence through, also when it is cut.
func TestTableIsVisible(t *testing.T) {
	t.Parallel()
	for width := range 30 {
		for _, line := range (Table{
			Columns: []Column{{Header: "A", Least: 1}}, Width: width, Colours: true,
			Rows: [][]Cell{{Text("a\x1b[2Jb\x1b]0;t\x07\u202e日本", Normal)}},
		}).Lines()[1:] {
			if strings.ContainsAny(line, "\x1b\x07\u202e") {
				t.Errorf("%q", line)
			}
		}
	}
}

func TestWantsColour(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		choice   string
		env      map[string]string
		terminal bool
		want     bool
	}{
		{"", nil, true, true},
		{ColourAuto, nil, true, true},
		{ColourAuto, nil, false, false},
		{ColourAlways, map[string]string{"NO_COLOR": "1"}, false, true},
		{ColourNever, map[string]string{"CLICOLOR_FORCE": "1"}, true, false},
		{ColourAuto, map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, true, false},
		{ColourAuto, map[string]string{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, false, true},
		{ColourAuto, map[string]string{"CLICOLOR_FORCE": "0"}, false, false},
		{ColourAuto, map[string]string{"TERM": "dumb"}, true, false},
		{ColourAuto, map[string]string{"CLICOLOR": "0"}, true, false},
		{ColourAuto, map[string]string{"CLICOLOR": "1"}, false, false},
	} {
		if got := WantsColour(c.choice, func(name string) string { return c.env[name] }, c.terminal); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestHasUnicode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LANG": "de_DE.UTF-8"}, true},
		{map[string]string{"LANG": "C.utf8"}, true},
		{map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, false},
		{map[string]string{"LC_CTYPE": "UTF-8", "LANG": "C"}, true},
	} {
		if got := HasUnicode(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}
