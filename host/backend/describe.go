package backend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/schema"
	"github.com/swarmhost/swarm/shared/warn"
)

// Description is what a plugin announces of its settings, and of the options of its workers or
// workspaces. A schema is nil if the plugin announces none.
type Description struct {
	Kind              client.Kind
	Settings, Options *schema.Schema
}

// DescriptionOf reads what a plugin announced. The error says which schema can't be read; it is left
// out then.
func DescriptionOf(i client.Info) (Description, error) {
	d := Description{Kind: i.Kind}
	var errs []error
	read := func(what string, data []byte) *schema.Schema {
		if data == nil {
			return nil
		}
		s, err := schema.Parse(data)
		if err != nil {
			errs = append(errs, fmt.Errorf("the schema of its %s can't be read: %w", what, err))
			return nil
		}
		return s
	}
	d.Settings, d.Options = read("settings", i.Settings), read("options", i.Options)
	return d, errors.Join(errs...)
}

// Describe returns the description of a plugin: what is remembered of this program, else what the
// plugin says, which is started for it, without its settings.
func (ps *Plugins) Describe(ctx context.Context, e catalog.Entry) (Description, error) {
	if d, ok := Remembered(ps.opts.Dir, e); ok {
		return d, nil
	}
	e.Config = nil // they may be wrong
	var d Description
	err := ps.Ask(ctx, e, false, func(p *Peer) (err error) {
		ps.Remember(e, p)
		d, err = DescriptionOf(p.Info)
		return err
	})
	return d, err
}

// descriptionsDir is the folder in the state directory that holds what plugins announced, a file for
// each: an editor and a shell ask for it more often than a plugin can be started.
const descriptionsDir = "plugin-schemas"

// maxDescription is the largest file in descriptionsDir, in bytes.
const maxDescription = 4 * schema.MaxSize

// remembered is the content of a file in descriptionsDir.
type remembered struct {
	Kind     client.Kind     `json:"kind"`
	Settings json.RawMessage `json:"settings,omitempty"`
	Options  json.RawMessage `json:"options,omitempty"`
}

// Remembered returns the description of a plugin without starting it; ok is false if nothing is
// known of this program.
func Remembered(dir statedir.Dir, e catalog.Entry) (d Description, ok bool) {
	path, err := descriptionPath(dir, e)
	if err != nil {
		return d, false
	}
	text, err := safefile.Read(path, maxDescription)
	if err != nil {
		return d, false
	}
	var r remembered
	if json.Unmarshal(text, &r) != nil {
		return d, false
	}
	d, err = DescriptionOf(client.Info{Kind: r.Kind, Settings: r.Settings, Options: r.Options})
	return d, err == nil
}

// Remember writes down what a plugin has announced, unless that is known. It costs two looks at files
// if it is.
func (ps *Plugins) Remember(e catalog.Entry, p *Peer) {
	path, err := descriptionPath(ps.opts.Dir, e)
	if err != nil || p.Settings == nil && p.Options == nil {
		return
	}
	if _, err := os.Lstat(path); err == nil {
		return
	}
	if _, err := DescriptionOf(p.Info); err != nil {
		return // the next caller is to see why
	}
	warn.If(ps.opts.Logger, ps.remember(path, e.Name, p), "the description of a plugin is not remembered", "plugin", e.Name)
}

func (ps *Plugins) remember(path, name string, p *Peer) error {
	// A look at plugins makes no state directory.
	err := os.Mkdir(filepath.Dir(path), 0o700)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	// The files of former programs of the plugin are useless.
	old, err := filepath.Glob(filepath.Join(filepath.Dir(path), name+"@*.json"))
	if err != nil {
		return err
	}
	for _, o := range old {
		if err := os.Remove(o); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	text, err := json.Marshal(remembered{Kind: p.Kind, Settings: p.Settings, Options: p.Options})
	if err != nil {
		return err
	}
	return safefile.ReplaceCache(path, text)
}

// descriptionPath returns the file for a program of a plugin, whose name changes with the program.
func descriptionPath(dir statedir.Dir, e catalog.Entry) (string, error) {
	info, err := os.Stat(e.Path())
	if err != nil {
		return "", err
	}
	facts := fmt.Sprintf("%s\x00%d\x00%d", strings.Join(e.Command, "\x00"), info.Size(), info.ModTime().UnixNano())
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		facts += fmt.Sprintf("\x00%d\x00%d", s.Dev, s.Ino)
	}
	sum := sha256.Sum256([]byte(facts))
	return filepath.Join(string(dir), descriptionsDir, e.Name+"@"+hex.EncodeToString(sum[:8])+".json"), nil
}
