package config

import (
	"strings"
	"testing"
	"time"
)

// How long events are kept is for the user's file to say, whatever a project's file says and
// whether or not that is trusted.
func TestHistoryIsOfTheUser(t *testing.T) {
	t.Parallel()
	const user, project = "[history]\nkeep = \"2160h\"\n", "[history]\nkeep = \"1s\"\n"
	for _, trusted := range []bool{true, false} {
		o := Options{
			User: write(t, "config.toml", user), Project: write(t, ProjectFile, project),
			Trusted: func(string, []byte) bool { return trusted },
		}
		l, err := Load(o)
		if err != nil || l.Config.History.Keep != 2160*time.Hour || l.Origins[historyKeep].File != o.User {
			t.Errorf("trusted %t: %v of %v, %v", trusted, l.Config.History, l.Origins[historyKeep], err)
		}
		if len(l.Ignored) != 1 || !l.Ignored[0].UserOnly || l.Ignored[0].Key != historyKeep {
			t.Errorf("trusted %t: ignored: %v", trusted, l.Ignored)
		}
		o.User = ""
		if l, err := Load(o); err != nil || l.Config.History.Keep != 0 || len(l.Ignored) != 1 {
			t.Errorf("trusted %t, without a user's file: %v, %v", trusted, l.Config.History, err)
		}
	}
}

func TestHistoryKeep(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{`"90m"`: 90 * time.Minute, "3600": time.Hour} {
		l, err := Load(Options{User: write(t, "config.toml", "[history]\nkeep = "+text+"\n")})
		if err != nil || l.Config.History.Keep != want {
			t.Errorf("%s: %v, %v", text, l.Config.History.Keep, err)
		}
	}
	for _, text := range []string{"0", `"0s"`, `"-1h"`, `"90d"`, "true", `""`} {
		_, err := Load(Options{User: write(t, "config.toml", "[history]\nkeep = "+text+"\n")})
		if err == nil || !strings.Contains(err.Error(), historyKeep) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
