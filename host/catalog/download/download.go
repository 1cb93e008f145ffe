// Package download gets files from servers, with limits of size, time and redirects.
package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// The limits of a download: how long it may take as a whole, how long a server may take to answer, and how
// often it may lead to another address.
const (
	timeLimit    = 15 * time.Minute
	answerLimit  = 30 * time.Second
	maxRedirects = 5
)

// ErrNotFound means that a server has no such file.
var ErrNotFound = errors.New("the server has no such file")

// Client downloads files. Its methods may be called at the same time.
type Client struct {
	http *http.Client
}

// New returns a client that connects to nothing yet. Proxies are those of the environment.
func New() *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // its documented type
	transport.ResponseHeaderTimeout = answerLimit
	return &Client{http: &http.Client{Transport: transport, Timeout: timeLimit, CheckRedirect: checkRedirect}}
}

// checkRedirect refuses a redirect that leaves the scheme: an answer that came over https can't lead to a
// file that others can exchange on its way.
func checkRedirect(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if first := before[0].URL.Scheme; next.URL.Scheme != first {
		return fmt.Errorf("a redirect from %s to %s is refused", first, next.URL.Redacted())
	}
	_, err := CheckAddress(next.URL.String())
	return err
}

// CheckAddress reads a URL that may be downloaded: https, or http on this machine.
func CheckAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("%q is not a URL", address)
	case u.User != nil:
		return nil, fmt.Errorf("%s: a URL with a user or a password is refused, since it would be recorded", u.Redacted())
	case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, nil
	case u.Scheme == "http":
		return nil, fmt.Errorf("%s: use https:// (http:// only on this machine, since others can change what it brings)", address)
	}
	return nil, fmt.Errorf("%s: expected a URL that begins with https://", address)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Bytes returns what an address has, at most limit bytes.
func (c *Client) Bytes(ctx context.Context, address string, limit int64) ([]byte, error) {
	var b strings.Builder
	err := c.get(ctx, address, limit, &b)
	return []byte(b.String()), err
}

// File writes what an address has, at most limit bytes, to a new file that only the user can read.
func (c *Client) File(ctx context.Context, address, path string, limit int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(c.get(ctx, address, limit, f), f.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

func (c *Client) get(ctx context.Context, address string, limit int64, to io.Writer) error {
	u, err := CheckAddress(address)
	if err != nil {
		return err
	}
	failed := func(err error) error { return fmt.Errorf("cannot download %s: %w", u.Redacted(), err) }
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return failed(err)
	}
	r.Header.Set("User-Agent", "swarm")
	answer, err := c.http.Do(r)
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // which names neither the method nor the address a second time
	}
	if err != nil {
		return failed(err)
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return failed(ErrNotFound)
	default:
		return failed(fmt.Errorf("the server answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode)))
	}
	if answer.ContentLength > limit {
		return failed(tooLarge(limit))
	}
	n, err := io.Copy(to, io.LimitReader(answer.Body, limit+1))
	switch {
	case err != nil:
		return failed(err)
	case n > limit:
		return failed(tooLarge(limit))
	}
	return nil
}

func tooLarge(limit int64) error { return fmt.Errorf("it is larger than %d bytes", limit) }
