package config

import (
	"slices"
	"strings"
	"testing"
)

// Which notifiers get events is for the user's file to say, whatever a project's file says and
// whether or not that is trusted.
func TestNotifyIsOfTheUser(t *testing.T) {
	t.Parallel()
	const user, project = "[notify]\nuse = [\"notify\", \"mine\"]\ntags = [\"ci\"]\n", "[notify]\nuse = [\"evil\"]\non = [\"ended\"]\ntags = [\"x\"]\n"
	for _, trusted := range []bool{true, false} {
		o := Options{
			User: write(t, "config.toml", user), Project: write(t, ProjectFile, project),
			Trusted: func(string, []byte) bool { return trusted },
		}
		l, err := Load(o)
		n := l.Config.Notify
		if err != nil || !slices.Equal(n.Use, []string{"notify", "mine"}) || !slices.Equal(n.On, Default().Notify.On) || !slices.Equal(n.Tags, []string{"ci"}) {
			t.Errorf("trusted %t: %v, %v", trusted, n, err)
		}
		if l.Origins[NotifyUse].File != o.User {
			t.Errorf("trusted %t: it is of %v", trusted, l.Origins[NotifyUse])
		}
		if len(l.Ignored) != 3 || slices.ContainsFunc(l.Ignored, func(i Ignored) bool { return !i.UserOnly || !strings.HasPrefix(i.Key, "notify.") }) {
			t.Errorf("trusted %t: ignored: %v", trusted, l.Ignored)
		}
	}
}

func TestNotifyMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`use = "notify"`:              "notify.use: expected an array",
		`use = ["a", "B"]`:            "notify.use: element 2: expected a plugin name",
		`use = ["a", "../b"]`:         "notify.use: element 2: expected a plugin name",
		`use = ["a", "a"]`:            `notify.use: element 2: "a" is there twice`,
		`on = ["died"]`:               "notify.on: element 1: expected",
		`on = []`:                     "notify.on: expected at least one",
		"usee = [\"a\"]":              "did you mean 'notify.use'?",
		"use = [\"a\"]\ntags = \"x\"": "notify.tags: expected an array",
	} {
		_, err := Load(Options{User: write(t, "config.toml", "[notify]\n"+text+"\n")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
