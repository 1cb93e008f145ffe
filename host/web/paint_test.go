package web

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/safetext"
)

func TestPaint(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"plain":                          "plain",
		"a < b & c":                      "a &lt; b &amp; c",
		"\x1b[31mred\x1b[0m not":         `<span class="f1">red</span> not`,
		"\x1b[1;4;92mx\x1b[22my":         `<span class="f10 bold under">x</span><span class="f10 under">y</span>`,
		"\x1b[38;5;208mx":                `<span class="f208">x</span>`,
		"\x1b[38;2;255;135;0mx":          `<span class="f208">x</span>`,
		"\x1b[38:2::255:135:0mx":         `<span class="f208">x</span>`,
		"\x1b[48;2;18;18;18mx":           `<span class="b233">x</span>`,
		"\x1b[7;31;42mx":                 `<span class="f2 b1 inv">x</span>`,
		"\x1b[mx":                        "x",
		"\x1b]0;title\ax":                `\x1b]0;title\ax`,
		"\x1b[2Jx":                       `\x1b[2Jx`,
		"\x1b[31m<b onclick=x>\"'\x1b[m": `<span class="f1">&lt;b onclick=x&gt;&#34;&#39;</span>`,
		"\x1b[999;38;5;9999mx":           `<span class="f255">x</span>`,
		"\u202e\xff":                     `\u202e\xff`,
		"\x1b[38;5m\x1b[38mx":            `<span class="f0">x</span>`,
	} {
		if got := string(paint(line)); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

var (
	tag     = regexp.MustCompile(`</?span(?: class="[a-z0-9 ]+")?>`)
	special = regexp.MustCompile(`&(amp|lt|gt|#34|#39);`)
)

func FuzzPaint(f *testing.F) {
	for _, s := range []string{"", "x", "\x1b[31m<script>", "\x1b[38;5;1\">x", "\x1b[4:3mx\x1b[", "a\u2028b\xff\n\t&", "\x1b[1m\x1b[7m\x1b[8mx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		html := string(paint(line))
		if !utf8.ValidString(html) {
			t.Fatalf("not UTF-8: %q", html)
		}
		opened := 0
		for _, m := range tag.FindAllString(html, -1) {
			if opened++; strings.HasPrefix(m, "</") {
				opened -= 2
			}
			if opened < 0 || opened > 1 {
				t.Fatalf("the tags do not match: %q", html)
			}
		}
		if opened != 0 {
			t.Fatalf("a tag is open: %q", html)
		}
		text := special.ReplaceAllString(tag.ReplaceAllString(html, ""), "")
		if strings.ContainsAny(text, `<>&"'`) {
			t.Fatalf("%q is not escaped: %q", text, html)
		}
		for _, c := range text {
			if c != '\t' && safetext.IsHidden(c) {
				t.Fatalf("%q is hidden in %q", c, html)
			}
		}
	})
}
