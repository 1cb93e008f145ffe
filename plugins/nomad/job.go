package nomad

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

const taskName = "worker"

const (
	metaID   = "swarm_id"
	metaName = "swarm_name"
	metaSpec = "swarm_spec" // what [save] keeps
)

// job is an [api.Job] with what its version of the API does not know yet. Older
// servers leave that out.
type job struct {
	*api.Job
	TaskGroups []group
}

func (j job) isWrapped() bool {
	config := j.TaskGroups[0].Tasks[0].Config
	return isWrapped(config["command"].(string), config["args"].([]string))
}

type group struct {
	*api.TaskGroup
	Disconnect disconnect
}

// disconnect keeps a worker whose node is disconnected: it is unknown until the node is
// back.
type disconnect struct{ Replace bool }

func (c Config) newJob(at place, spec swarm.Spec) (job, ref, error) {
	c, err := c.with(spec.Options)
	if err != nil {
		return job{}, ref{}, err
	}
	driver, err := c.driverConfig(spec)
	if err != nil {
		return job{}, ref{}, err
	}
	r, err := newRef(at, spec)
	if err != nil {
		return job{}, ref{}, err
	}
	resources, err := c.resources(spec.Limits)
	if err != nil {
		return job{}, ref{}, err
	}
	if err := spec.CheckUTF8("Nomad", spec.Env); err != nil {
		return job{}, ref{}, err
	}
	kept, err := save(spec)
	if err != nil {
		return job{}, ref{}, err
	}
	logs := c.logs(spec.OutputLimit)
	task := &api.Task{
		Name: taskName, Driver: c.Driver, User: c.User, Config: driver,
		Env: environ(spec.Env), Meta: map[string]string{metaDollar: "$"},
		KillSignal: r.Signal, KillTimeout: &r.Grace, LogConfig: logs,
		RestartPolicy: never(),
		Resources:     resources,
	}
	disk := max(c.Disk, *logs.MaxFiles**logs.MaxFileSizeMB+10)
	g := &api.TaskGroup{
		Name: &spec.ID, Count: new(1), Tasks: []*api.Task{task}, RestartPolicy: never(),
		ReschedulePolicy: &api.ReschedulePolicy{Attempts: new(0), Unlimited: new(false)},
		EphemeralDisk:    &api.EphemeralDisk{SizeMB: &disk},
	}
	j := &api.Job{
		ID: &r.Job, Name: &r.Job, Namespace: &at.Namespace, Type: new(api.JobTypeBatch), Priority: &c.Priority,
		Datacenters: c.Datacenters, Constraints: c.constraints(),
		Meta: map[string]string{metaID: spec.ID, metaName: spec.Name, metaSpec: kept},
	}
	if len(j.Datacenters) == 0 {
		j.Datacenters = []string{"*"}
	}
	if at.Region != "" {
		j.Region = &at.Region
	}
	if c.NodePool != "" {
		j.NodePool = &c.NodePool
	}
	return job{Job: j, TaskGroups: []group{{TaskGroup: g}}}, r, nil
}

// resources returns what a task gets. Limits are resources that Nomad enforces: memory with
// drivers that have control groups, and whole CPUs, which are then the task's alone.
func (c Config) resources(l swarm.Limits) (*api.Resources, error) {
	r := &api.Resources{CPU: &c.CPU, MemoryMB: &c.Memory}
	if l.Memory != 0 {
		if c.Driver == driverRawExec && !l.BestEffort {
			return nil, fmt.Errorf("%w: Nomad's driver raw_exec does not limit memory; use --option driver=exec, or docker", swarm.ErrInvalidSpec)
		}
		const mib = 1 << 20
		r.MemoryMB = new(int((l.Memory + mib - 1) / mib))
	}
	if l.CPUs != 0 {
		cores := int(l.CPUs)
		if float64(cores) != l.CPUs {
			return nil, fmt.Errorf("%w: Nomad limits workers to whole CPUs, such as --cpus %d", swarm.ErrInvalidSpec, cores+1)
		}
		r.CPU, r.Cores = nil, &cores
	}
	return r, nil
}

func never() *api.RestartPolicy {
	return &api.RestartPolicy{Attempts: new(0), Mode: new("fail")}
}

func (c Config) constraints() []*api.Constraint {
	all := make([]*api.Constraint, len(c.Constraints))
	for i, k := range c.Constraints {
		all[i] = api.NewConstraint(k.Attribute, cmp.Or(k.Operator, "="), k.Value)
	}
	return all
}

// logFiles is how many files a log is divided into.
const logFiles = 4

// logs keeps so many bytes of each stream, or a few more.
func (c Config) logs(limit int64) *api.LogConfig {
	const mib = 1 << 20
	size := 16
	if limit > 0 {
		size = int(max(1, (limit+logFiles*mib-1)/(logFiles*mib)))
	}
	return &api.LogConfig{MaxFiles: new(logFiles), MaxFileSizeMB: &size}
}

func environ(env []string) map[string]string {
	out := make(map[string]string, len(env))
	for _, kv := range swarm.MergeEnv(env) {
		k, v, _ := strings.Cut(kv, "=")
		out[k] = toEnv.Replace(v)
	}
	return out
}

// with returns the settings with the options of one worker on top.
func (c Config) with(given map[string]string) (Config, error) {
	o := Options{CPU: c.CPU, Datacenters: c.Datacenters, Disk: c.Disk, Memory: c.Memory, NodePool: c.NodePool, User: c.User}
	if err := plugin.DecodeOptions(given, &o); err != nil {
		return c, err
	}
	c.CPU, c.Datacenters, c.Disk, c.Memory, c.NodePool, c.User = o.CPU, o.Datacenters, o.Disk, o.Memory, o.NodePool, o.User
	if o.Image != "" {
		c.Image, c.Driver = o.Image, driverDocker
	}
	c.Driver = cmp.Or(o.Driver, c.Driver)
	return c, nil
}

// Nomad reads the command of a task as an HCL template. A dollar that is always an
// expression of its own can't begin one, nor escape the one after it as "$${" does;
// the same goes for a percent sign in front of a brace.
var (
	toHCL   = strings.NewReplacer("$", `${"$"}`, "%{", `${"%"}{`)
	fromHCL = strings.NewReplacer(`${"$"}`, "$", `${"%"}{`, "%{")
)

// metaDollar is a key of the task's meta whose value is a dollar sign. It is in the
// environment before the user's variables.
const metaDollar = "swarm_dollar"

// Nomad replaces each "${name}" with a known name in the values of an environment, once,
// and has no escape for it.
var toEnv = strings.NewReplacer("${", "${NOMAD_META_"+metaDollar+"}{")

func escapeAll(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = toHCL.Replace(arg)
	}
	return out
}
