package main

import (
	"context"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"

	"github.com/swarmhost/swarm/shared/sgr"
)

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

// coloured returns text with SGR sequences as HTML.
func coloured(text string) string {
	var b strings.Builder
	var style sgr.Style
	for text != "" {
		before, sequence, after := sgr.Cut(text)
		write(&b, before, style)
		style.Read(sequence)
		text = after
	}
	return b.String()
}

func write(b *strings.Builder, text string, s sgr.Style) {
	if text == "" {
		return
	}
	front, back := css(s.Text), css(s.Back)
	if s.Has("reverse") {
		front, back = back, front
		if front == "" {
			front = "#16181a"
		}
		if back == "" {
			back = "#d9dcd6"
		}
	}
	var style strings.Builder
	for _, r := range []struct {
		on   bool
		rule string
	}{
		{front != "", "color:" + front},
		{back != "", "background:" + back},
		{s.Has("bold"), "font-weight:700"},
		{s.Has("dim"), "opacity:.6"},
		{s.Has("italic"), "font-style:italic"},
		{s.Has("underline"), "text-decoration:underline"},
	} {
		if r.on {
			style.WriteString(r.rule + ";")
		}
	}
	fmt.Fprintf(b, `<span style="%s">%s</span>`, style.String(), html.EscapeString(text))
}

// basic are the first 16 colours, as the pages of swarm web have them.
var basic = strings.Fields("#6b716a #f0736a #7cc37f #dcb35c #76a9f5 #c792ea #5fc4c9 #d9dcd6 #8d938c #ff938b #9be09d #f4d27f #9cc4ff #ddb3f8 #86e1e5 #fff")

// css returns a colour; empty: the usual one.
func css(c sgr.Colour) string {
	n, ok := c.Palette()
	if !ok {
		return ""
	}
	if n < len(basic) {
		return basic[n]
	}
	r, g, b := sgr.RGB(n)
	return fmt.Sprintf("#%02x%02x%02x", r, g, b)
}
