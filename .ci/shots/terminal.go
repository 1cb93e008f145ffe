package main

import (
	"context"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/chromedp/chromedp"
)

// look is how letters of a terminal look. The colours are those of CSS; empty: the usual ones.
type look struct {
	text, back                           string
	bold, faint, italic, under, inverted bool
}

// shootTerminal makes a picture of a screen.
func shootTerminal(ctx context.Context, screen, file string) error {
	page := `<meta charset="utf-8"><style>
body { margin: 0; background: #16181a; color: #d9dcd6; display: inline-block; }
pre { margin: 0; padding: 14px 18px; font: 14px/18px "JetBrains Mono", "DejaVu Sans Mono", monospace; font-variant-ligatures: none; width: max-content; }
</style><pre>` + coloured(strings.TrimRight(screen, "\n")) + `</pre>`
	dir, err := os.MkdirTemp("", "shots")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "screen.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		return err
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1400, 1000), chromedp.Navigate("file://"+path)); err != nil {
		return err
	}
	size, err := chromedp.Run(ctx, chromedp.Evaluate[[]int64]("[...document.querySelectorAll('pre')].flatMap((e) => [e.offsetWidth, e.offsetHeight])"))
	if err != nil || len(size) != 2 {
		return fmt.Errorf("cannot measure the screen: %v, %w", size, err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(size[0], size[1])); err != nil {
		return err
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return os.WriteFile(file, png, 0o644)
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;:]*)m")

// coloured returns text with SGR sequences as HTML.
func coloured(text string) string {
	var b strings.Builder
	var l look
	for text != "" {
		at := sgr.FindStringSubmatchIndex(text)
		if at == nil {
			l.write(&b, text)
			break
		}
		l.write(&b, text[:at[0]])
		l.change(strings.Split(strings.ReplaceAll(text[at[2]:at[3]], ":", ";"), ";"))
		text = text[at[1]:]
	}
	return b.String()
}

func (l look) write(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	front, back := l.text, l.back
	if l.inverted {
		front, back = back, front
		if front == "" {
			front = "#16181a"
		}
		if back == "" {
			back = "#d9dcd6"
		}
	}
	var style strings.Builder
	for _, s := range []struct {
		on   bool
		rule string
	}{
		{front != "", "color:" + front},
		{back != "", "background:" + back},
		{l.bold, "font-weight:700"},
		{l.faint, "opacity:.6"},
		{l.italic, "font-style:italic"},
		{l.under, "text-decoration:underline"},
	} {
		if s.on {
			style.WriteString(s.rule + ";")
		}
	}
	fmt.Fprintf(b, `<span style="%s">%s</span>`, style.String(), html.EscapeString(text))
}

// basic are the first 16 colours, as the pages of swarm web have them.
var basic = strings.Fields("#6b716a #f0736a #7cc37f #dcb35c #76a9f5 #c792ea #5fc4c9 #d9dcd6 #8d938c #ff938b #9be09d #f4d27f #9cc4ff #ddb3f8 #86e1e5 #fff")

func (l *look) change(params []string) {
	for len(params) > 0 {
		n, _ := strconv.Atoi(params[0])
		params = params[1:]
		switch {
		case n == 0:
			*l = look{}
		case n == 1:
			l.bold = true
		case n == 2:
			l.faint = true
		case n == 3:
			l.italic = true
		case n == 4:
			l.under = true
		case n == 7:
			l.inverted = true
		case n == 22:
			l.bold, l.faint = false, false
		case n == 23:
			l.italic = false
		case n == 24:
			l.under = false
		case n == 27:
			l.inverted = false
		case n >= 30 && n < 38:
			l.text = basic[n-30]
		case n >= 90 && n < 98:
			l.text = basic[n-82]
		case n >= 40 && n < 48:
			l.back = basic[n-40]
		case n >= 100 && n < 108:
			l.back = basic[n-92]
		case n == 38:
			l.text, params = colour(params)
		case n == 48:
			l.back, params = colour(params)
		case n == 39:
			l.text = ""
		case n == 49:
			l.back = ""
		}
	}
}

// colour reads a colour of 256, or of 24 bits.
func colour(params []string) (css string, rest []string) {
	number := func(i int) int {
		n, _ := strconv.Atoi(params[i])
		return n
	}
	switch {
	case len(params) > 1 && params[0] == "5":
		return ofPalette(number(1)), params[2:]
	case len(params) > 3 && params[0] == "2":
		return fmt.Sprintf("#%02x%02x%02x", number(1), number(2), number(3)), params[4:]
	}
	return "", nil
}

func ofPalette(n int) string {
	switch {
	case n < 0 || n > 255:
		return ""
	case n < 16:
		return basic[n]
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	step := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", step(n/36), step(n/6%6), step(n%6))
}
