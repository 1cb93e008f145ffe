package screen

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func benchInputs() map[string]string {
	var lines, coloured, progress, tui strings.Builder
	for i := range 20_000 {
		n := strconv.Itoa(i)
		lines.WriteString("2026-01-02T03:04:05 INFO request " + n + " handled in 12 ms by worker seven\n")
		coloured.WriteString("\x1b[32mok\x1b[0m  \x1b[1mpackage/" + n + "\x1b[0m\t0.01s (cached) ümläut\r\n")
		progress.WriteString("\rDownloading " + n + " of 20000 [=====>      ] 12.3 MB/s\x1b[K")
		tui.WriteString("\x1b[" + strconv.Itoa(i%40+1) + ";1H\x1b[2K\x1b[38;5;12m│\x1b[0m item " + n + " of a list\x1b[60G│")
	}
	return map[string]string{"lines": lines.String(), "coloured": coloured.String(), "progress": progress.String(), "screen": tui.String()}
}

func BenchmarkScreen(b *testing.B) {
	for name, in := range benchInputs() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				s := Screen{Line: func(l Line) { n += len(l.Text) }}
				for rest := in; rest != ""; {
					piece := rest[:min(len(rest), 16<<10)]
					s.Write([]byte(piece), time.Time{})
					rest = rest[len(piece):]
				}
				s.Close()
			}
		})
	}
}
