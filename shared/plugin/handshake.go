package plugin

import goplugin "github.com/hashicorp/go-plugin"

// PluginName is the name under which go-plugin dispenses what [Connect] takes.
const PluginName = "swarm"

// Handshake returns what host and plugin have to agree on before anything else.
// It has nothing to do with the version of the contract, which [Connect] checks.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  1,
		MagicCookieKey:   cookieKey,
		MagicCookieValue: cookieValue,
	}
}

// Plugins returns what a host gives to go-plugin's client.
func Plugins() goplugin.PluginSet {
	return goplugin.PluginSet{PluginName: clientSide{}}
}
