package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Spec converts a spec.
func Spec(s swarm.Spec) *pb.SpawnRequest {
	return &pb.SpawnRequest{
		Id:          text(s.ID),
		Name:        text(s.Name),
		Command:     byteses(s.Command),
		Dir:         []byte(s.Dir),
		Env:         byteses(s.Env),
		Tags:        texts(s.Tags),
		Options:     textMap(s.Options),
		Kill:        KillOptions(s.Kill),
		OutputLimit: s.OutputLimit,
		Local:       local(s.Local),
		Stdin:       s.Stdin,
		Restart:     restart(s.Restart),
		Owner:       owner(s.Owner),
		Transcript:  s.Transcript,
		Limits:      Limits(s.Limits),
		Sandbox:     sandbox(s.Sandbox),
	}
}

// FromSpec converts back.
func FromSpec(s *pb.SpawnRequest) swarm.Spec {
	return swarm.Spec{
		ID:          s.GetId(),
		Name:        s.GetName(),
		Command:     strs(s.GetCommand()),
		Dir:         string(s.GetDir()),
		Env:         strs(s.GetEnv()),
		Tags:        texts(s.GetTags()),
		Options:     textMap(s.GetOptions()),
		Kill:        FromKillOptions(s.GetKill()),
		OutputLimit: s.GetOutputLimit(),
		Local:       fromLocal(s.GetLocal()),
		Stdin:       s.GetStdin(),
		Restart:     fromRestart(s.GetRestart()),
		Owner:       fromOwner(s.GetOwner()),
		Transcript:  s.GetTranscript(),
		Limits:      FromLimits(s.GetLimits()),
		Sandbox:     fromSandbox(s.GetSandbox()),
	}
}

func local(l *swarm.Local) *pb.Local {
	if l == nil {
		return nil
	}
	return &pb.Local{
		RunDir:    []byte(l.RunDir),
		StateDir:  []byte(l.StateDir),
		Shim:      []byte(l.Shim),
		HostEnv:   byteses(l.HostEnv),
		Workspace: []byte(l.Workspace),
		Server:    []byte(l.Server),
	}
}

func fromLocal(l *pb.Local) *swarm.Local {
	if l == nil {
		return nil
	}
	return &swarm.Local{
		RunDir:    string(l.GetRunDir()),
		StateDir:  string(l.GetStateDir()),
		Shim:      string(l.GetShim()),
		HostEnv:   strs(l.GetHostEnv()),
		Workspace: string(l.GetWorkspace()),
		Server:    string(l.GetServer()),
	}
}

// Lookup converts a lookup.
func Lookup(l swarm.Lookup) *pb.FindRequest {
	return &pb.FindRequest{
		Id:      text(l.ID),
		Name:    text(l.Name),
		Options: textMap(l.Options),
		Local:   local(l.Local),
	}
}

// FromLookup converts back.
func FromLookup(l *pb.FindRequest) swarm.Lookup {
	return swarm.Lookup{
		ID:      l.GetId(),
		Name:    l.GetName(),
		Options: textMap(l.GetOptions()),
		Local:   fromLocal(l.GetLocal()),
	}
}

// KillOptions converts kill options.
func KillOptions(o swarm.KillOptions) *pb.KillOptions {
	return &pb.KillOptions{
		Signal: text(o.Signal),
		Grace:  span(o.Grace),
		Force:  o.Force,
		Mode:   mode(o.Mode),
		Detach: o.Detach,
	}
}

// FromKillOptions converts back.
func FromKillOptions(o *pb.KillOptions) swarm.KillOptions {
	return swarm.KillOptions{
		Signal: o.GetSignal(),
		Grace:  o.GetGrace().AsDuration(),
		Force:  o.GetForce(),
		Mode:   fromMode(o.GetMode()),
		Detach: o.GetDetach(),
	}
}

func mode(m swarm.KillMode) pb.KillMode {
	if m == swarm.KillMain {
		return pb.KillMode_KILL_MODE_MAIN
	}
	return pb.KillMode_KILL_MODE_UNSPECIFIED
}

func fromMode(m pb.KillMode) swarm.KillMode {
	if m == pb.KillMode_KILL_MODE_MAIN {
		return swarm.KillMain
	}
	return swarm.KillTree
}

// Limits converts limits; nil for none.
func Limits(l swarm.Limits) *pb.Limits {
	if l == (swarm.Limits{}) {
		return nil
	}
	return &pb.Limits{
		Memory:     l.Memory,
		Cpus:       l.CPUs,
		Pids:       int64(l.PIDs),
		Nice:       int64(l.Nice),
		IoWeight:   int64(l.IOWeight),
		BestEffort: l.BestEffort,
	}
}

// FromLimits converts back. Numbers out of their bounds stay, for [swarm.Limits.Check].
func FromLimits(l *pb.Limits) swarm.Limits {
	return swarm.Limits{
		Memory:     l.GetMemory(),
		CPUs:       l.GetCpus(),
		PIDs:       int(l.GetPids()),
		Nice:       int(l.GetNice()),
		IOWeight:   int(l.GetIoWeight()),
		BestEffort: l.GetBestEffort(),
	}
}

func sandbox(s *swarm.Sandbox) *pb.Sandbox {
	if s == nil {
		return nil
	}
	return &pb.Sandbox{Network: s.Network, Home: s.Home, Write: s.Write}
}

// fromSandbox keeps words that it does not know, for [swarm.Sandbox.Check].
func fromSandbox(s *pb.Sandbox) *swarm.Sandbox {
	if s == nil {
		return nil
	}
	return &swarm.Sandbox{Network: s.GetNetwork(), Home: s.GetHome(), Write: s.GetWrite()}
}
