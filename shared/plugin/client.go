package plugin

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Kind says what a plugin implements.
type Kind string

// The kinds of plugins. Readers keep kinds that they do not know.
const (
	KindBackend   Kind = "backend"   // [swarm.Backend]
	KindWorkspace Kind = "workspace" // [swarm.Workspace]
)

// Info says what a plugin is.
type Info struct {
	// Name and Version are those of its [Options].
	Name, Version string
	// Kind is what it implements; empty if this host does not know it.
	Kind Kind
	// Contract is the version of the contract that it was built with.
	Contract int
	// Local is that of its [Options].
	Local bool
	// Capabilities are the optional interfaces that it implements. None if it
	// could not make itself ready, and before [Client.Configure] where that is
	// called.
	Capabilities []swarm.Capability
}

// Has reports whether the plugin has the capability.
func (i Info) Has(c swarm.Capability) bool { return slices.Contains(i.Capabilities, c) }

// ConnectOption is an option of [Connect].
type ConnectOption int

// ConfigFollows tells that [Client.Configure] is called next. Without it the
// plugin makes itself ready at once, without settings.
const ConfigFollows ConnectOption = 1

// Client is a plugin seen from the host. Its methods may be called at the same
// time, but for Configure. It owns nothing: ending the plugin is up to who
// started it.
type Client struct {
	conn   grpc.ClientConnInterface
	plugin pb.PluginClient
	info   Info
}

// Warm prepares this process for the first calls of a plugin, which are quicker then. A
// host calls it while a plugin starts, when it has nothing else to do.
func Warm() { wire.Warm() }

// Connect asks a plugin what it is. dispensed is what go-plugin dispensed for
// [PluginName]. A plugin of another contract version is a [*ContractError]. A
// plugin that can't work, such as one with settings that are wrong, can be
// connected to all the same: its calls say why, first of all [Client.Check].
func Connect(ctx context.Context, dispensed any, opts ...ConnectOption) (*Client, error) {
	conn, ok := dispensed.(grpc.ClientConnInterface)
	if !ok {
		return nil, fmt.Errorf("connect to plugin: %T is not what go-plugin dispenses for %q", dispensed, PluginName)
	}
	conn = bounded{conn}
	c := &Client{conn: conn, plugin: pb.NewPluginClient(conn)}
	resp, err := c.plugin.Describe(ctx, &pb.DescribeRequest{
		ContractVersion: swarm.ContractVersion,
		ConfigFollows:   slices.Contains(opts, ConfigFollows),
	}, smallAnswer)
	if err != nil {
		return nil, wire.FromStatus(ctx, err)
	}
	c.info = Info{
		Name:         wire.Line(resp.GetName()),
		Version:      wire.Line(resp.GetVersion()),
		Kind:         kindOf(resp.GetKind()),
		Contract:     int(resp.GetContractVersion()),
		Local:        resp.GetLocal(),
		Capabilities: wire.FromCapabilities(resp.GetCapabilities()),
	}
	if c.info.Contract != swarm.ContractVersion {
		return nil, &ContractError{Plugin: c.info.Name, Host: swarm.ContractVersion, Theirs: c.info.Contract}
	}
	return c, nil
}

func kindOf(k pb.Kind) Kind {
	switch k {
	case pb.Kind_KIND_BACKEND:
		return KindBackend
	case pb.Kind_KIND_WORKSPACE:
		return KindWorkspace
	default:
		return ""
	}
}

// Info returns what the plugin is.
func (c *Client) Info() Info { return c.info }

// Configure gives the plugin its settings, a JSON object. It is called at most
// once, and only right after Connect with [ConfigFollows]; host and plugin save
// a round trip where there are no settings. Settings that are wrong are
// [swarm.ErrInvalidConfig].
func (c *Client) Configure(ctx context.Context, json []byte) error {
	resp, err := c.plugin.Configure(ctx, &pb.ConfigureRequest{Json: json}, smallAnswer)
	if err != nil {
		return wire.FromStatus(ctx, err)
	}
	c.info.Capabilities = wire.FromCapabilities(resp.GetCapabilities())
	return nil
}

// Check tells whether the plugin can work, see [swarm.Checker]. A plugin without
// that capability can if it could make itself ready.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.Report(ctx)
	return err
}

// Report is Check, and returns what the plugin works with, see [swarm.Reporter];
// empty if it does not tell.
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

// Workspace returns the workspace plugin, or nil if the plugin is of another
// kind.
func (c *Client) Workspace() *Workspace {
	if c.info.Kind != KindWorkspace {
		return nil
	}
	return &Workspace{client: c, rpc: pb.NewWorkspaceClient(c.conn)}
}
