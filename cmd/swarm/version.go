package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/shared/swarm"
)

// build is what the linker recorded about this executable.
type build struct {
	Version  string  `json:"version"`
	Commit   *string `json:"commit"`
	Modified bool    `json:"modified"`
	Go       string  `json:"go"`
	OS       string  `json:"os"`
	Arch     string  `json:"arch"`
	Contract int     `json:"contract"`
}

func newVersion(a *app) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if json {
				return a.printJSON(readBuild())
			}
			a.printf("%s\n", readBuild())
			return nil
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print it as JSON")
	return cmd
}

func readBuild() build {
	b := build{
		Version: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Contract: swarm.ContractVersion,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = orNull(s.Value)
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) String() string {
	return fmt.Sprintf("swarm %s (plugin contract %d, %s, %s/%s)", b.Version, b.Contract, b.Go, b.OS, b.Arch)
}
