package redact

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/swarmhost/swarm/shared/screen"
)

// TestLines: what identifies a person is masked, in the same width, and nothing else.
func TestLines(t *testing.T) {
	t.Parallel()
	known := Known{
		Home: "/home/ann-lee", User: "ann", Host: "annbox.example.org", Secrets: []string{"s3cr3t value!", "short", ""}, Words: []string{"Project X"},
	}
	for line, want := range map[string]string{
		"cd /home/ann-lee/src and ~/src":                 "cd /home/xxx-xxx/src and ~/src",
		"Welcome back Ann! (ann@annbox)":                 "Welcome back xxx! (xxx@xxxxxx)",
		"anna and Hannah plan":                           "anna and Hannah plan",
		"mail ann.lee+x@mail.example.org, please":        "mail xxx.xxxxx@xxxx.xxxxxxx.xxx, please",
		"npx @openai/codex@1.2.3 x@y":                    "npx @openai/codex@1.2.3 x@y",
		"id 3f2504e0-4f89-41d3-9a0c-0305e82c3301 ":       "id 0x0000x0-0x00-00x0-0x0x-0000x00x0000 ",
		"ses_4f3aB9kq12 session-name":                    "xxx_0x0xx0xx00 session-name",
		"key sk-ant-api03-Ab_9 of GITHUB ghp_0123456789": "key xx-xxx-xxx00-xx_0 of GITHUB xxx_0000000000",
		"API_KEY=hunter22 and password: 'opensesame'":    "API_KEY=xxxxxx00 and password: 'xxxxxxxxxx'",
		"Authorization: Bearer abc.def.ghi":              "Authorization: Bearer xxx.xxx.xxx",
		"https://me:pass@example.org/x":                  "https://me:xxxx@xxxxxxx.xxx/x",
		"│ s3cr3t value! │":                              "│ x0xx0x xxxxxx │",
		"eyJhbGciOiJIUzI1.eyJzdWIi.c2ln":                 "xxxxxxxxxxxxxxx0.xxxxxxxx.x0xx",
		"0123456789abcdef0123456789abcdef":               "0000000000xxxxxx0000000000xxxxxx",
		"----------------------------------------":       "----------------------------------------",
		"the-long-name-of-a-thing-that-is-not-random-12": "the-long-name-of-a-thing-that-is-not-random-12",
		"❯ 1. Yes, and don't ask again for Project X":    "❯ 1. Yes, and don't ask again for xxxxxxx x",
	} {
		runes := []rune(line)
		styled := "\x1b[2m" + string(runes[:len(runes)/2]) + "\x1b[0;31m" + string(runes[len(runes)/2:]) + "\x1b[0m"
		got, gotStyled := New(known).Lines([]string{line}, []string{styled})
		if strings.TrimRight(got[0], " ") != strings.TrimRight(want, " ") {
			t.Errorf("%q:\n got %q\nwant %q", line, got[0], want)
		}
		if plain := screen.Plain(gotStyled[0]); plain != strings.TrimRight(got[0], " ") || !strings.Contains(gotStyled[0], "31m") {
			t.Errorf("%q with styles: %q", line, plain)
		}
		if a, b := ansi.StringWidthWc(line), ansi.StringWidthWc(got[0]); a != b {
			t.Errorf("%q: %d columns, had %d", got[0], b, a)
		}
	}
}

// TestWrapped: the rest of a token in the next line is masked, and a line that is not full has no
// rest.
func TestWrapped(t *testing.T) {
	t.Parallel()
	width := strings.Repeat("─", 40)
	lines := []string{
		"╭" + width + "╮",
		"│ the key is sk-ant-api03-aaaaaaaaaaaaaaa │",
		"│ bbbbbbbbcccc and no more of it           │",
		"│ set to verysecretval                     │",
		"│ the value begins here to verysecretva    │",
		"│ lue99 and ends                           │",
		"╰" + width + "╯",
	}
	m := New(Known{Secrets: []string{"verysecretvalue99"}})
	got, _ := m.Lines(lines, nil)
	for i, want := range map[int]string{
		1: "│ the key is xx-xxx-xxx00-xxxxxxxxxxxxxxx │",
		2: "│ xxxxxxxxxxxx and no more of it           │",
		3: lines[3],
		4: "│ the value begins here to xxxxxxxxxxxx    │",
		5: "│ xxx00 and ends                           │",
	} {
		if got[i] != want {
			t.Errorf("line %d: %q, want %q", i, got[i], want)
		}
	}
	if m.Found["token"] != 1 || m.Found["secret"] != 1 {
		t.Errorf("found %v", m.Found)
	}
}

// TestForms: a line whose two forms differ shows nothing that is masked, and a text of wide letters
// keeps its width.
func TestForms(t *testing.T) {
	t.Parallel()
	m := New(Known{Words: []string{"世界"}, User: "root", Home: "/root"})
	got, styled := m.Lines([]string{"root of 世界!"}, []string{"\x1b[1mother text\x1b[0m"})
	if got[0] != "root of xxxx!" || styled[0] != got[0] {
		t.Errorf("%q, %q", got, styled)
	}
	if _, styled := m.Lines([]string{"a"}, nil); styled != nil {
		t.Errorf("styles of nothing: %q", styled)
	}
}
