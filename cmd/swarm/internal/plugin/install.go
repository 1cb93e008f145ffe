package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/catalog/source"
	"github.com/swarmhost/swarm/host/pluginadmin"
)

type pluginInstallOptions struct {
	source, sha256 string
	force, json    bool
	locked         bool
}

func newInstall(a *app.App) *cobra.Command {
	var o pluginInstallOptions
	cmd := &cobra.Command{
		Use:   "install SOURCE|--locked [flags]",
		Short: "Install a plugin into the state directory",
		Long: `Install a plugin. SOURCE is one of these:

  FILE                            an executable swarm-plugin-NAME, or an archive of one,
                                  swarm-plugin-NAME_VERSION_OS_ARCH.tar.gz
  https://…                       the URL of such a file
  github.com/OWNER/REPO[@VERSION] the archive for this machine of a release on GitHub
  NAME[@VERSION], INDEX/NAME[…]   a plugin of an index, see "swarm plugin index"

Without VERSION it is the newest release. It is installed in plugins/NAME/VERSION of
the state directory; versions are installed side by side, and the newest release is used unless
the config picks one ([plugins.NAME] version).

A download is verified before anything in it is looked at. An index gives its
hash. A URL or a release needs --sha256, or the signature of a key that install.keys of your config
has for it; otherwise the command asks whether to install it, and fails without a terminal. Where a
key is known, a file without its signature is refused.

--locked takes no SOURCE: it installs exactly the plugins that swarm.lock of the project names and
that are missing, see "swarm plugin lock".

If a file SHA256SUMS lies next to the archive, the archive must match it. Archives with
links, or with paths that escape their folder, are refused, as are plugins for another
machine and files that another user may have written. Only then is the plugin started,
once, to ask for its name and version. It is installed as a whole or not at all.

The hashes of all its files are recorded: a plugin that was changed later does not
run.`,
		Example: `  swarm plugin install ./swarm-plugin-queue
  swarm plugin install swarm-plugin-queue_1.2.0_linux_amd64.tar.gz
  swarm plugin install ./swarm-plugin-queue --sha256 9f86d081884c7d65…
  swarm plugin install https://example.com/swarm-plugin-queue_1.2.0_linux_amd64.tar.gz
  swarm plugin install github.com/ann/swarm-plugin-queue@1.2.0
  swarm plugin install queue
  swarm plugin install --locked`,
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.locked {
				return command.Arguments(0, 0, "")(cmd, args)
			}
			return command.Arguments(1, 1, "a plugin or an archive")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.locked {
				return runInstallLocked(cmd.Context(), a, o.json)
			}
			o.source = args[0]
			if o.sha256 != "" && !isSHA256(o.sha256) {
				return output.Usagef("invalid value '%s' for --sha256: expected 64 hexadecimal digits, as sha256sum prints them", o.sha256)
			}
			return runInstall(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.sha256, "sha256", "", "the SHA-256 hash that the file must have")
	f.BoolVar(&o.force, "force", false, "replace what is installed of that version")
	f.BoolVar(&o.locked, "locked", false, "install what swarm.lock names and what is missing")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

func isSHA256(s string) bool {
	hash, err := hex.DecodeString(s)
	return err == nil && len(hash) == sha256.Size
}

type pluginInstalledJSON struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	// Action is "installed", "replaced" or "unchanged".
	Action string `json:"action"`
	// UsedInstead is the version or path that is used instead.
	UsedInstead *string `json:"used_instead"`
	// Source is the path or the URL of its file, SignedBy the key that the file was verified with.
	Source   string  `json:"source"`
	SignedBy *string `json:"signed_by"`
}

func pluginInstalledJSONOf(p pluginadmin.Installed) pluginInstalledJSON {
	j := pluginInstalledJSON{
		Name: p.Name, Version: p.Version, Kind: p.Kind, Path: p.Path(p.Files[0]), SHA256: p.Files[0].SHA256, Action: "installed",
		UsedInstead: output.OrNull(p.Hidden + p.Newer), // one of them at most
		Source:      p.Source, SignedBy: output.OrNull(p.SignedBy),
	}
	switch {
	case p.Already:
		j.Action = "unchanged"
	case p.Replaced:
		j.Action = "replaced"
	}
	return j
}

// warnUnused says what is used in the place of an installed plugin, and what picks this one.
func warnUnused(a *app.App, p pluginadmin.Installed) {
	this := "one"
	if p.Prerelease {
		this = "pre-release"
	}
	text := fmt.Sprintf("swarm uses %s, not this %s", p.Hidden+p.Newer, this)
	switch {
	case p.Unused:
		text = "swarm uses no pre-release that is not named"
	case p.Hidden+p.Newer == "":
		return
	}
	a.Warn(text, fmt.Sprintf("version = %q in [plugins.%s] of your config file picks this one", p.Version, p.Name))
}

// withInstallHint adds the way out to errors of sources.
func withInstallHint(err error) error {
	if unproven, ok := errors.AsType[*pluginadmin.UnprovenError](err); ok {
		of := unproven.Origin
		if of == "" {
			of = unproven.Source
		}
		return output.WithHint(err, fmt.Sprintf("give --sha256 with the hash that its author publishes elsewhere, or put the author's key for %q into install.keys of your config", of))
	}
	if changed, ok := errors.AsType[*source.ChangedKeyError](err); ok {
		return output.WithHint(err, trustHint(changed.Index))
	}
	return err
}

// confirmation returns what asks on the terminal whether to install a file that nothing vouches for; nil
// without a terminal.
func confirmation(ctx context.Context, a *app.App) func(*pluginadmin.UnprovenError) error {
	if !a.Asks() {
		return nil
	}
	return func(e *pluginadmin.UnprovenError) error {
		a.Warn(e.Error(), "compare the hash with the one that the author of the plugin publishes")
		return a.Ask(ctx, "install it?")
	}
}

func runInstall(ctx context.Context, a *app.App, o pluginInstallOptions) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		p, err := h.Plugins().Install(ctx, pluginadmin.InstallRequest{
			Source: o.source, SHA256: o.sha256, Force: o.force, Confirm: confirmation(ctx, a),
		})
		if err != nil {
			return withInstallHint(err)
		}
		j := pluginInstalledJSONOf(p)
		if o.json {
			return a.PrintJSON(j)
		}
		if p.Already {
			a.Printf("%s %s is installed already\n", p.Name, p.Version)
		} else {
			a.Printf("%s %s %s (%s)\n", j.Action, p.Name, p.Version, p.Kind)
		}
		if p.SignedBy != "" && !p.Already {
			a.Hint("signed by " + p.SignedBy)
		}
		warnUnused(a, p)
		return nil
	})
}
