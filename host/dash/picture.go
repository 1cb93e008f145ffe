package dash

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Picture returns what [Follower.Screen] returns, with colours where they are known: the
// engine knows what its terminal shows, and the output how the letters look. A line is shown
// in colours if the output has drawn the same text.
func (f *Follower) Picture() (lines []string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	drawn := map[string][]string{}
	for _, s := range f.streams {
		for _, line := range s.screen.Shown() {
			line = shown([]byte(line))
			text := strings.TrimRight(ansi.Strip(line), " ")
			drawn[text] = append(drawn[text], line)
		}
	}
	lines = make([]string, len(f.screen))
	for i, line := range f.screen {
		lines[i] = line
		text := strings.TrimRight(line, " ")
		if same := drawn[text]; len(same) > 0 {
			lines[i] = same[0]
			if len(same) > 1 {
				drawn[text] = same[1:]
			}
		}
	}
	return lines, f.shows
}
