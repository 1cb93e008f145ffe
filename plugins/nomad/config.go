package nomad

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Config is the plugin's own table of settings. Settings that are left out come from
// the variables that the nomad command knows, such as NOMAD_ADDR and NOMAD_TOKEN.
type Config struct {
	Address   string `json:"address"`
	Region    string `json:"region"`
	Namespace string `json:"namespace"`
	// Token is the secret of an ACL token, TokenFile a file that holds it.
	Token     string `json:"token"`
	TokenFile string `json:"token_file"`
	TLS       TLS    `json:"tls"`

	// Datacenters are the datacenters in which workers may run; empty means all.
	Datacenters []string     `json:"datacenters"`
	NodePool    string       `json:"node_pool"`
	Constraints []Constraint `json:"constraints"`
	Priority    int          `json:"priority"`

	// Driver is raw_exec, exec or docker; the last one needs an Image.
	Driver string `json:"driver"`
	Image  string `json:"image"`
	// User is the user who runs the command; empty means the driver's default.
	User string `json:"user"`
	// CPU is in MHz, Memory and Disk in MiB.
	CPU    int `json:"cpu"`
	Memory int `json:"memory"`
	Disk   int `json:"disk"`

	// StartTimeout is how many seconds a spawn waits for the command to run.
	StartTimeout int `json:"start_timeout"`
}

// TLS holds the settings for an agent that is reached by https.
type TLS struct {
	CACert     string `json:"ca_cert"`
	ClientCert string `json:"client_cert"`
	ClientKey  string `json:"client_key"`
	ServerName string `json:"server_name"`
	SkipVerify bool   `json:"skip_verify"`
}

// Constraint is one of a job, as in Nomad.
type Constraint struct {
	Attribute string `json:"attribute"`
	Operator  string `json:"operator"`
	Value     string `json:"value"`
}

func Defaults() Config {
	return Config{
		Driver: driverRawExec, CPU: 100, Memory: 300, Disk: 300, Priority: 50, StartTimeout: 30,
	}
}

// The drivers that a command is known for.
const (
	driverRawExec = "raw_exec"
	driverExec    = "exec"
	driverDocker  = "docker"
)

func drivers() []string { return []string{driverRawExec, driverExec, driverDocker} }

func (c Config) check() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("%w: "+format, append([]any{swarm.ErrInvalidConfig}, args...)...))
		}
	}
	bad(c.Token != "" && c.TokenFile != "", "token and token_file exclude each other")
	bad(!slices.Contains(drivers(), c.Driver), "driver: '%s' is not one of %s", c.Driver, strings.Join(drivers(), ", "))
	bad(c.CPU < 1, "cpu: %d MHz", c.CPU)
	bad(c.Memory < 10, "memory: %d MiB is less than 10, the least that Nomad allows", c.Memory)
	bad(c.Disk < 10, "disk: %d MiB is less than 10, the least that Nomad allows", c.Disk)
	bad(c.Priority < 1 || c.Priority > 100, "priority: %d is not between 1 and 100", c.Priority)
	bad(c.StartTimeout < 1, "start_timeout: %d seconds", c.StartTimeout)
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
