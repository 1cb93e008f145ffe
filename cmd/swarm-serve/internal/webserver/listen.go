package webserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/errtext"
)

type listenOptions struct{ address, socket, cert, key string }

type listener struct {
	net.Listener
	// base is the address of the server as a browser needs it.
	base string
	// socket is the path of its unix socket; empty: it has none.
	socket string
	// names are those by which it may be called: those of the certificate, and the one to listen at.
	names []string
	// open says that it listens on more than the loopback interface.
	open bool
	// config has the certificate with which connections are to be encrypted; nil: they are not.
	config *tls.Config
}

// listen begins to listen. Without a certificate it does so only where none but this
// machine's users can connect.
func listen(ctx context.Context, o listenOptions) (*listener, error) {
	l := &listener{}
	switch {
	case (o.cert == "") != (o.key == ""):
		return nil, errors.New("--cert and --key belong together")
	case o.cert != "":
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return nil, fmt.Errorf("cannot use the certificate %s: %w", o.cert, err)
		}
		l.names = pair.Leaf.DNSNames
		l.config = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if o.socket != "" {
		return l, l.listenUnix(ctx, o.socket)
	}
	host, _, err := net.SplitHostPort(o.address)
	if err != nil {
		return nil, fmt.Errorf("invalid address '%s': expected HOST:PORT, such as 127.0.0.1:8080", o.address)
	}
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if host != "" && (err != nil || len(ips) == 0) {
		return nil, fmt.Errorf("cannot find the address of '%s': %w", host, errtext.Cause(err))
	}
	l.open = host == "" || slices.ContainsFunc(ips, func(ip net.IPAddr) bool { return !ip.IP.IsLoopback() })
	if l.open && l.config == nil {
		return nil, fmt.Errorf("'%s' can be reached from other machines, so it needs --cert and --key; without them listen at 127.0.0.1, or use --socket and ssh -L", o.address)
	}
	if l.Listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", o.address); err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", o.address, errtext.Cause(err))
	}
	scheme := "http://"
	if l.config != nil {
		scheme = "https://"
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	switch {
	case host == "" || net.ParseIP(host).IsUnspecified():
		host = "localhost"
		if i := slices.IndexFunc(l.names, func(name string) bool { return !strings.HasPrefix(name, "*") }); i >= 0 {
			host = l.names[i]
		}
	case net.ParseIP(host) == nil:
		l.names = append(l.names, host)
	}
	l.base = scheme + net.JoinHostPort(host, port)
	return l, nil
}

// port returns the port of the server; 0: it listens at a socket.
func (l *listener) port() int {
	if at, ok := l.Addr().(*net.TCPAddr); ok {
		return at.Port
	}
	return 0
}

// listenUnix listens at a socket that only this user can connect to.
func (l *listener) listenUnix(ctx context.Context, path string) (err error) {
	if l.config != nil {
		return errors.New("--socket and --cert exclude each other")
	}
	// A socket of a server that was killed is in the way. One that answers is not touched.
	if c, err := (&net.Dialer{}).DialContext(ctx, "unix", path); err == nil {
		_ = c.Close()
		return fmt.Errorf("cannot listen at %s: another server does", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
		_ = os.Remove(path)
	}
	l.Listener, err = listenPrivately(ctx, path)
	if err != nil {
		return fmt.Errorf("cannot listen at %s: %w", path, errtext.Cause(err))
	}
	l.socket, l.base = path, "http://localhost"
	return nil
}

// listenPrivately makes a unix socket with mode 0600 from its first moment. The program has
// no other goroutine yet that makes files.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	defer unix.Umask(unix.Umask(0o177))
	return (&net.ListenConfig{}).Listen(ctx, "unix", path)
}
