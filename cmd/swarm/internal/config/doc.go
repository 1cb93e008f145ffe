// Package config is "swarm config": the configuration is shown, checked, written and trusted.
package config
