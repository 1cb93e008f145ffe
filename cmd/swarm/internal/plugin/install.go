package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/pluginadmin"
)

type pluginInstallOptions struct {
	path, sha256 string
	force, json  bool
}

func newInstall(a *app.App) *cobra.Command {
	var o pluginInstallOptions
	cmd := &cobra.Command{
		Use:   "install PATH|ARCHIVE [flags]",
		Short: "Install a plugin into the state directory",
		Long: `Install a plugin: an executable swarm-plugin-NAME, or an archive of one,
swarm-plugin-NAME_VERSION_OS_ARCH.tar.gz. It is installed in plugins/NAME/VERSION of
the state directory; versions are installed side by side, and the newest release is used unless
the config picks one ([plugins.NAME] version).

If a file SHA256SUMS lies next to the archive, the archive must match it. Archives with
links, or with paths that escape their folder, are refused, as are plugins for another
machine and files that another user may have written. Only then is the plugin started,
once, to ask for its name and version. It is installed as a whole or not at all.

The hashes of all its files are recorded: a plugin that was changed later does not
run.`,
		Example: `  swarm plugin install ./swarm-plugin-queue
  swarm plugin install swarm-plugin-queue_1.2.0_linux_amd64.tar.gz
  swarm plugin install ./swarm-plugin-queue --sha256 9f86d081884c7d65…`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(1, 1, "a plugin or an archive"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path = args[0]
			if isRemote(o.path) {
				return output.WithHint(fmt.Errorf("cannot install from %s: swarm downloads nothing", o.path),
					"download the file and its SHA256SUMS first, then install the file")
			}
			if o.sha256 != "" && !isSHA256(o.sha256) {
				return output.Usagef("invalid value '%s' for --sha256: expected 64 hexadecimal digits, as sha256sum prints them", o.sha256)
			}
			return runInstall(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.sha256, "sha256", "", "the SHA-256 hash that the file must have")
	f.BoolVar(&o.force, "force", false, "replace what is installed of that version")
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
}

func runInstall(ctx context.Context, a *app.App, o pluginInstallOptions) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		p, err := h.Plugins().Install(ctx, pluginadmin.InstallRequest{Path: o.path, SHA256: o.sha256, Force: o.force})
		if err != nil {
			return err
		}
		j := pluginInstalledJSON{
			Name: p.Name, Version: p.Version, Kind: p.Kind, Path: p.Path(p.Files[0]), SHA256: p.Files[0].SHA256, Action: "installed",
		}
		switch {
		case p.Already:
			j.Action = "unchanged"
		case p.Replaced:
			j.Action = "replaced"
		}
		j.UsedInstead = output.OrNull(p.Hidden + p.Newer) // one of them at most
		if o.json {
			return a.PrintJSON(j)
		}
		if p.Already {
			a.Printf("%s %s is installed already\n", p.Name, p.Version)
		} else {
			a.Printf("%s %s %s (%s)\n", j.Action, p.Name, p.Version, p.Kind)
		}
		if j.UsedInstead != nil {
			this := "one"
			if p.Prerelease && p.Newer != "" {
				this = "pre-release"
			}
			a.Warn(fmt.Sprintf("swarm uses %s, not this %s", *j.UsedInstead, this),
				fmt.Sprintf("version = %q in [plugins.%s] of your config file picks this one", p.Version, p.Name))
		}
		return nil
	})
}

// isRemote reports whether an argument names a place on another machine, and no file of that name exists: a
// URL, an address as git and scp have it, or a Go module.
func isRemote(path string) bool {
	if _, err := os.Lstat(path); err == nil {
		return false
	}
	if scheme, _, isURL := strings.Cut(path, "://"); isURL && !strings.ContainsAny(scheme, "/. ") {
		return true
	}
	first, _, _ := strings.Cut(path, "/")
	host, _, isAddress := strings.Cut(first, ":")
	return isAddress && strings.Contains(host, "@") || first == "github.com" || first == "gitlab.com"
}
