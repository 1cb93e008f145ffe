package client

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Kind is the interface that a plugin implements.
type Kind string

// The kinds of plugins. Readers keep kinds that they do not know.
const (
	KindBackend   Kind = "backend"   // [swarm.Backend]
	KindWorkspace Kind = "workspace" // [swarm.Workspace]
	KindTools     Kind = "tools"     // [swarm.Toolbox]
	KindNotifier  Kind = "notifier"  // [swarm.Notifier]
)

// Info describes a plugin.
type Info struct {
	// Name and Version are set in its [Options].
	Name, Version string
	// Kind is the interface that it implements; empty if it is unknown to this host.
	Kind Kind
	// Contract is the version of the contract that it and this host speak with each other.
	Contract int
	// Local is set in its [Options].
	Local bool
	// Capabilities are the optional interfaces that it implements. They are empty if its
	// initialization failed, and before [Client.Configure] if that is called.
	Capabilities []swarm.Capability
	// Settings and Options are what the plugin announces of its settings, and of the options of its
	// workers or workspaces, for [schema.Parse]; nil: it announces nothing.
	Settings, Options []byte
}

// Has reports whether the plugin has the capability.
func (i Info) Has(c swarm.Capability) bool { return slices.Contains(i.Capabilities, c) }

// ConnectOption is an option of [Connect].
type ConnectOption func(*pb.DescribeRequest)

// ConfigFollows announces that [Client.Configure] is called next. Without it the plugin
// initializes itself at once, without settings.
func ConfigFollows(r *pb.DescribeRequest) { r.ConfigFollows = true }

// RunDirs gives the plugin the directory with the run directories of the host's workers,
// absolute. The contexts of its calls carry it, see [swarm.RunDir].
func RunDirs(dir string) ConnectOption {
	return func(r *pb.DescribeRequest) { r.RunDirs = []byte(dir) }
}

// Client is the host's side of a plugin. Its methods may be called concurrently, except
// Configure. It owns nothing: the code that started the plugin ends it.
type Client struct {
	conn   bounded
	plugin pb.PluginClient
	info   Info
	// debugged says that it was made by Reattach.
	debugged bool
}

// Warm prepares this process for the first calls of a plugin, which are quicker then. A
// host calls it while a plugin starts, when it has nothing else to do.
func Warm() { wire.Warm() }

// Connect asks a plugin for its description. dispensed is the value that go-plugin
// dispensed for [PluginName]. For a plugin of another contract version, the error is a
// [*ContractError]. Connect also succeeds for a plugin that can't work, such as one with
// invalid settings: its calls return the reason, for example [Client.Check].
func Connect(ctx context.Context, dispensed any, opts ...ConnectOption) (*Client, error) {
	conn, ok := dispensed.(grpc.ClientConnInterface)
	if !ok {
		return nil, fmt.Errorf("connect to plugin: %T is not what go-plugin dispenses for %q", dispensed, PluginName)
	}
	b := bounded{conn, new(atomic.Pointer[func() error])}
	c := &Client{conn: b, plugin: pb.NewPluginClient(b)}
	ours := wire.Spoken()
	req := &pb.DescribeRequest{ContractVersion: ours.Newest, OldestContractVersion: ours.Oldest}
	for _, set := range opts {
		set(req)
	}
	resp, err := c.plugin.Describe(ctx, req, smallAnswer)
	if err != nil {
		return nil, wire.FromStatus(ctx, err)
	}
	c.info = Info{
		Name:         wire.Line(resp.GetName()),
		Version:      wire.Line(resp.GetVersion()),
		Kind:         kinds[resp.GetKind()],
		Local:        resp.GetLocal(),
		Capabilities: wire.FromCapabilities(resp.GetCapabilities()),
		Settings:     resp.GetSettings(),
		Options:      resp.GetOptions(),
	}
	ours = wire.Contracts{Oldest: req.GetOldestContractVersion(), Newest: req.GetContractVersion()}
	theirs := wire.ContractsOf(resp.GetContractVersion(), resp.GetOldestContractVersion())
	version, ok := ours.Common(theirs)
	if !ok {
		e := &ContractError{Plugin: c.info.Name, Host: int(ours.Newest), Theirs: int(theirs.Newest)}
		if theirs.Oldest > ours.Newest {
			e.Theirs = int(theirs.Oldest)
		} else {
			e.Host = int(ours.Oldest)
		}
		return nil, e
	}
	c.info.Contract = int(version)
	return c, nil
}

var kinds = map[pb.Kind]Kind{
	pb.Kind_KIND_BACKEND: KindBackend, pb.Kind_KIND_WORKSPACE: KindWorkspace, pb.Kind_KIND_TOOLS: KindTools,
	pb.Kind_KIND_NOTIFIER: KindNotifier,
}

// Reattach returns the client of a plugin that serves already and was described and configured by
// another process: info is what [Connect] and [Client.Configure] returned there.
func Reattach(conn grpc.ClientConnInterface, info Info) *Client {
	b := bounded{conn, new(atomic.Pointer[func() error])}
	return &Client{conn: b, plugin: pb.NewPluginClient(b), info: info, debugged: true}
}

// IsDebugged reports whether a person debugs the plugin, so that its calls may take any time.
func (c *Client) IsDebugged() bool { return c.debugged }

// Explain has why called when a call finds the plugin gone: its error, which has to be an
// [ErrPluginGone], is that of the call. The code that started the plugin knows how it ended.
func (c *Client) Explain(why func() error) { c.conn.why.Store(&why) }

// Info returns the description of the plugin.
func (c *Client) Info() Info { return c.info }

// Configure gives the plugin its settings, a JSON object. It is called at most once, and
// only right after Connect with [ConfigFollows]; without settings, host and plugin save the
// round trip. For invalid settings, the error is [swarm.ErrInvalidConfig].
func (c *Client) Configure(ctx context.Context, json []byte) error {
	resp, err := c.plugin.Configure(ctx, &pb.ConfigureRequest{Json: json}, smallAnswer)
	if err != nil {
		return wire.FromStatus(ctx, err)
	}
	c.info.Capabilities = wire.FromCapabilities(resp.GetCapabilities())
	return nil
}

// Check reports whether the plugin can work, see [swarm.Checker]. A plugin without that
// capability can work if its initialization succeeded.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.Report(ctx)
	return err
}

// Report is Check and also returns the plugin's report, see [swarm.Reporter]; empty without
// that interface.
func (c *Client) Report(ctx context.Context) (uses string, err error) {
	resp, err := c.plugin.Check(ctx, &pb.CheckRequest{})
	return resp.GetUses(), wire.FromStatus(ctx, err)
}

// Backend returns the backend, or nil if the plugin is of another kind.
func (c *Client) Backend() *Backend {
	if c.info.Kind != KindBackend {
		return nil
	}
	return &Backend{client: c, rpc: pb.NewBackendClient(c.conn)}
}

// Workspace returns the workspace plugin, or the part of a backend that makes workspaces; nil
// if the plugin makes none.
func (c *Client) Workspace() *Workspace {
	if c.info.Kind != KindWorkspace && !c.info.Has(swarm.CapWorkspaces) {
		return nil
	}
	return &Workspace{client: c, rpc: pb.NewWorkspaceClient(c.conn)}
}

// ErrPluginGone means that the plugin's process ended during the call or before it, or was
// closed by this host. It is unknown whether the call had an effect. The client can't be
// used any more: connect to a new process, and repeat idempotent calls.
var ErrPluginGone = wire.ErrGone

// ContractError means that a plugin and this host speak no version of the contract in common.
type ContractError struct {
	// Plugin is the plugin's name.
	Plugin string
	// Host and Theirs are the versions of this host and of the plugin that are the nearest to each
	// other.
	Host, Theirs int
}

// Error names both versions and which side to update.
func (e *ContractError) Error() string {
	update := "the plugin"
	if e.Theirs > e.Host {
		update = "swarm"
	}
	return fmt.Sprintf("plugin '%s' speaks version %d of the plugin contract, this swarm speaks version %d: update %s",
		e.Plugin, e.Theirs, e.Host, update)
}

// MaxAnswer is the largest message, in bytes, that a host takes from a plugin. A plugin is
// third-party code: its answers must not use up the memory of the host.
const MaxAnswer = 16 << 20

const (
	// maxDescription is the largest answer to Describe and Configure, and the largest
	// description of one worker in a list.
	maxDescription = 1 << 20
	// maxList is the largest size of a whole list, in bytes: about 100,000 workers.
	maxList = 64 << 20
	// minListed is the smallest size with which a worker of a list is counted.
	minListed = 512
)

// smallAnswer is for calls whose answers are small.
var smallAnswer = grpc.MaxCallRecvMsgSize(maxDescription)
