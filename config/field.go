package config

import (
	"strconv"
	"time"
)

// field is one key: how to read it, to take it over and to show it.
type field[T any] struct {
	key string
	// set stores a value as the TOML library decoded it.
	set  func(into *T, v any) error
	copy func(to, from *T)
	// show returns the value in TOML; empty: there is none.
	show func(of *T) string
}

// fields are all keys outside of [plugins].
func fields() []field[Config] {
	return []field[Config]{
		newField("defaults.backend", func(c *Config) *string { return &c.Defaults.Backend }, readText, showText),
		newField("defaults.session", func(c *Config) *string { return &c.Defaults.Session }, readText, showText),
		newField("defaults.tmux_socket", func(c *Config) *string { return &c.Defaults.TmuxSocket }, readText, showText),
		newField("defaults.worktree_dir", func(c *Config) *string { return &c.Defaults.WorktreeDir }, readText, showText),
		newField("defaults.tags", func(c *Config) *[]string { return &c.Defaults.Tags }, readTexts, showTexts),
		newField("kill.signal", func(c *Config) *string { return &c.Kill.Signal }, readText, showText),
		newField("kill.timeout", func(c *Config) *time.Duration { return &c.Kill.Timeout }, readDuration, showDuration),
		newField("kill.force", func(c *Config) *bool { return &c.Kill.Force }, readBool, strconv.FormatBool),
		newField("kill.mode", func(c *Config) *string { return &c.Kill.Mode }, oneOf("tree", "main"), showText),
		newField("log.limit", func(c *Config) *int64 { return &c.Log.Limit }, readSize, showSize),
	}
}

// pluginFields are the keys of a table [plugins.NAME].
func pluginFields() []field[Plugin] {
	return []field[Plugin]{
		newField("command", func(p *Plugin) *[]string { return &p.Command }, readCommand, showTexts),
		newField("sha256", func(p *Plugin) *string { return &p.SHA256 }, readHash, showText),
		newField("mtls", func(p *Plugin) *bool { return &p.MTLS }, readBool, strconv.FormatBool),
		newField("config", func(p *Plugin) *map[string]any { return &p.Config }, readTable, showTable),
	}
}

func newField[T, V any](key string, at func(*T) *V, read func(any) (V, error), show func(V) string) field[T] {
	return field[T]{
		key: key,
		set: func(into *T, v any) error {
			value, err := read(v)
			if err != nil {
				return err
			}
			*at(into) = value
			return nil
		},
		copy: func(to, from *T) { *at(to) = *at(from) },
		show: func(of *T) string { return show(*at(of)) },
	}
}
