package setup

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Build holds the data that the linker recorded about the running program.
type Build struct {
	Version  string  `json:"version"`
	Commit   *string `json:"commit"`
	Modified bool    `json:"modified"`
	Go       string  `json:"go"`
	OS       string  `json:"os"`
	Arch     string  `json:"arch"`
	Contract int     `json:"contract"`
}

// ReadBuild returns the build data of the running program.
func ReadBuild() Build {
	b := Build{
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
			if s.Value != "" {
				b.Commit = &s.Value
			}
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b Build) String() string {
	return fmt.Sprintf("swarm %s (plugin contract %d, %s, %s/%s)", b.Version, b.Contract, b.Go, b.OS, b.Arch)
}
