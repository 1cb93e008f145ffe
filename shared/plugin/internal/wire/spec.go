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
		Local:       given(s.Local, local),
		Stdin:       s.Stdin,
		Restart:     restart(s.Restart),
		Owner:       given(s.Owner, owner),
		Transcript:  s.Transcript,
		Limits:      Limits(s.Limits),
		Sandbox:     given(s.Sandbox, sandbox),
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
		Local:       given(s.GetLocal(), fromLocal),
		Stdin:       s.GetStdin(),
		Restart:     fromRestart(s.GetRestart()),
		Owner:       given(s.GetOwner(), fromOwner),
		Transcript:  s.GetTranscript(),
		Limits:      FromLimits(s.GetLimits()),
		Sandbox:     given(s.GetSandbox(), fromSandbox),
	}
}

// SpawnCheck converts a check of a spawn.
func SpawnCheck(c swarm.SpawnCheck) *pb.CheckSpawnRequest {
	return &pb.CheckSpawnRequest{Spec: Spec(c.Spec), Replaces: Handle(c.Replaces), NoWorkspace: c.NoWorkspace}
}

// FromSpawnCheck converts back.
func FromSpawnCheck(c *pb.CheckSpawnRequest) swarm.SpawnCheck {
	return swarm.SpawnCheck{Spec: FromSpec(c.GetSpec()), Replaces: FromHandle(c.GetReplaces()), NoWorkspace: c.GetNoWorkspace()}
}

func local(l *swarm.Local) *pb.Local {
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
		Local:   given(l.Local, local),
	}
}

// FromLookup converts back.
func FromLookup(l *pb.FindRequest) swarm.Lookup {
	return swarm.Lookup{
		ID:      l.GetId(),
		Name:    l.GetName(),
		Options: textMap(l.GetOptions()),
		Local:   given(l.GetLocal(), fromLocal),
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

// FromLimits converts back. It keeps numbers out of bounds, for [swarm.Limits.Check].
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
	return &pb.Sandbox{Network: s.Network, Home: s.Home, Write: s.Write}
}

// fromSandbox keeps unknown values, for [swarm.Sandbox.Check].
func fromSandbox(s *pb.Sandbox) *swarm.Sandbox {
	return &swarm.Sandbox{Network: s.GetNetwork(), Home: s.GetHome(), Write: s.GetWrite()}
}
