package nomad

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Config is the plugin's own table of settings. Settings that are left out come from
// the variables that the nomad command knows, such as NOMAD_ADDR and NOMAD_TOKEN.
type Config struct {
	Address   string `json:"address" help:"The address of an agent, http:// or https://. Without it: NOMAD_ADDR, else http://127.0.0.1:4646."`
	Region    string `json:"region" help:"The region in which workers run. Without it: NOMAD_REGION, else that of the agent."`
	Namespace string `json:"namespace" help:"The namespace in which workers run, and their names are unique. Without it: NOMAD_NAMESPACE, else \"default\"."`
	Token     string `json:"token" secret:"true" help:"The secret of an ACL token. Without it: NOMAD_TOKEN."`
	TokenFile string `json:"token_file" help:"A file that holds the secret of an ACL token; excludes token."`
	TLS       TLS    `json:"tls" help:"How an agent is reached by https."`

	Datacenters []string     `json:"datacenters" help:"The datacenters in which workers may run. Without it: all."`
	NodePool    string       `json:"node_pool" help:"The node pool in which workers may run. Without it: that of Nomad, \"default\"."`
	Constraints []Constraint `json:"constraints" help:"Constraints of the jobs, as in Nomad."`
	Priority    int          `json:"priority" default:"50" min:"1" max:"100" help:"The priority of the jobs."`

	// Driver is raw_exec, exec or docker; the last one needs an Image.
	Driver string `json:"driver" enum:"raw_exec,exec,docker" default:"raw_exec" help:"The driver of the task."`
	Image  string `json:"image" help:"The image for the driver docker."`
	User   string `json:"user" help:"The user who runs the command. Without it: the driver's default."`
	CPU    int    `json:"cpu" default:"100" min:"1" help:"MHz for each worker."`
	Memory int    `json:"memory" default:"300" min:"10" help:"MiB of memory for each worker."`
	Disk   int    `json:"disk" default:"300" min:"10" help:"MiB of disk for each worker."`

	StartTimeout int `json:"start_timeout" default:"30" min:"1" help:"How many seconds a spawn waits for the command to run."`
}

// TLS holds the settings for an agent that is reached by https.
type TLS struct {
	CACert     string `json:"ca_cert" help:"The certificate of the authority, a file."`
	ClientCert string `json:"client_cert" help:"The certificate of this client, a file."`
	ClientKey  string `json:"client_key" help:"The key of this client, a file."`
	ServerName string `json:"server_name" help:"The name in the certificate of the agent."`
	SkipVerify bool   `json:"skip_verify" default:"false" help:"Whether the certificate of the agent is not checked."`
}

// Constraint is one of a job, as in Nomad.
type Constraint struct {
	Attribute string `json:"attribute" required:"true" help:"Such as \"${attr.cpu.arch}\"."`
	Operator  string `json:"operator" help:"Such as \"=\", which is Nomad's default."`
	Value     string `json:"value" help:"What the attribute is compared with."`
}

// Options are the options of a worker; those that are left out are as in the settings.
type Options struct {
	CPU         int      `json:"cpu" min:"1" help:"MHz, in place of those of the settings."`
	Datacenters []string `json:"datacenters" help:"The datacenters in which the worker may run, in place of those of the settings."`
	Disk        int      `json:"disk" min:"10" help:"MiB of disk, in place of those of the settings."`
	Driver      string   `json:"driver" enum:"raw_exec,exec,docker" help:"The driver of the task, in place of that of the settings; with the option \"image\" it is docker."`
	Image       string   `json:"image" help:"The image for the driver docker, in place of that of the settings."`
	Memory      int      `json:"memory" min:"10" help:"MiB of memory, in place of those of the settings."`
	NodePool    string   `json:"node_pool" help:"The node pool in which the worker may run, in place of that of the settings."`
	User        string   `json:"user" help:"The user who runs the command, in place of that of the settings."`
}

// The drivers that a command is known for.
const (
	driverRawExec = "raw_exec"
	driverDocker  = "docker"
)

func (c Config) check() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("%w: "+format, append([]any{swarm.ErrInvalidConfig}, args...)...))
		}
	}
	bad(c.Token != "" && c.TokenFile != "", "token and token_file exclude each other")
	bad(c.Address != "" && !strings.HasPrefix(c.Address, "http://") && !strings.HasPrefix(c.Address, "https://"),
		"address: '%s' does not begin with http:// or https://", c.Address)
	for i, k := range c.Constraints {
		bad(k.Attribute == "", "constraints: number %d has no attribute", i+1)
	}
	return errors.Join(errs...)
}

func (c Config) api() (*api.Config, error) {
	o := api.DefaultConfig()
	o.Address = cmp.Or(c.Address, o.Address)
	o.Region = cmp.Or(c.Region, o.Region)
	o.Namespace = cmp.Or(c.Namespace, o.Namespace, api.DefaultNamespace)
	o.SecretID = cmp.Or(c.Token, o.SecretID)
	o.TLSConfig.CACert = cmp.Or(c.TLS.CACert, o.TLSConfig.CACert)
	o.TLSConfig.ClientCert = cmp.Or(c.TLS.ClientCert, o.TLSConfig.ClientCert)
	o.TLSConfig.ClientKey = cmp.Or(c.TLS.ClientKey, o.TLSConfig.ClientKey)
	o.TLSConfig.TLSServerName = cmp.Or(c.TLS.ServerName, o.TLSConfig.TLSServerName)
	o.TLSConfig.Insecure = o.TLSConfig.Insecure || c.TLS.SkipVerify
	if c.TokenFile != "" {
		token, err := os.ReadFile(c.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("%w: token_file: %w", swarm.ErrInvalidConfig, err)
		}
		o.SecretID = strings.TrimSpace(string(token))
	}
	o.HttpClient = &http.Client{Transport: transport()}
	if err := api.ConfigureTLS(o.HttpClient, o.TLSConfig); err != nil {
		return nil, fmt.Errorf("%w: tls: %w", swarm.ErrInvalidConfig, err)
	}
	return o, nil
}

const dialTimeout = 5 * time.Second

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = dialTimeout
	// An agent takes 100 connections of one client.
	t.MaxConnsPerHost = 60
	t.MaxIdleConnsPerHost = 20
	return t
}
