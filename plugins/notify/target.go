package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/notice"
	"github.com/swarmhost/swarm/shared/swarm"
)

// postLimit is how long a server may take: less than the host waits for all targets.
const postLimit = 10 * time.Second

// client follows no redirect, see the documentation of the package.
var client = &http.Client{
	Timeout:       postLimit,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// ntfy publishes messages as JSON, since headers take no text of other languages.
func ntfy(topic *url.URL, token string) (target, error) {
	name := path.Base(topic.Path)
	if name == "/" || name == "." {
		return target{}, fmt.Errorf("%w: ntfy: the address has no topic, such as \"https://ntfy.sh/TOPIC\"", swarm.ErrInvalidConfig)
	}
	server := *topic
	server.Path, server.RawPath = strings.TrimSuffix(path.Dir(topic.Path), "/")+"/", ""
	return target{"ntfy", func(ctx context.Context, m message) error {
		return post(ctx, server.String(), token, map[string]string{"topic": name, "title": m.title, "message": cmp.Or(m.body, m.title)})
	}}, nil
}

// slack sends messages to a webhook as Slack has it. Texts of workers can't become markup there.
func slack(webhook *url.URL) target {
	plain := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	return target{"slack", func(ctx context.Context, m message) error {
		text := m.title
		if m.body != "" {
			text += ": " + m.body
		}
		return post(ctx, webhook.String(), "", map[string]string{"text": plain.Replace(text)})
	}}
}

// post sends JSON to an address. Its error does not show the address.
func post(ctx context.Context, address, token string, value any) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, &body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "swarm-plugin-notify/"+Version)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if about, ok := errors.AsType[*url.Error](err); ok {
		err = about.Err
	}
	if err != nil {
		return fmt.Errorf("the server can't be reached: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // so that the connection can be used again
	return judge(resp, time.Now())
}

// judge returns what the answer of a server means.
func judge(resp *http.Response, now time.Time) error {
	code := resp.StatusCode
	if code >= 200 && code < 300 {
		return nil
	}
	err := fmt.Errorf("the server answers %s", strings.TrimSpace(strconv.Itoa(code)+" "+http.StatusText(code)))
	if code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests {
		return refusal{err}
	}
	after := resp.Header.Get("Retry-After")
	if seconds, bad := strconv.ParseUint(after, 10, 31); bad == nil {
		return delay{err, now.Add(time.Duration(seconds) * time.Second)} //nolint:gosec // 31 bits
	}
	if until, bad := http.ParseTime(after); bad == nil {
		return delay{err, until}
	}
	return err
}

// desktop shows a message by notify-send.
func desktop(ctx context.Context, m message) error {
	ctx, cancel := context.WithTimeout(ctx, postLimit)
	defer cancel()
	line := notice.Desktop(m.title, m.body)
	out, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput()
	if err == nil {
		return nil
	}
	if said := notice.Clean(strings.TrimSpace(string(out))); said != "" {
		return fmt.Errorf("notify-send: %w: %s", errtext.Cause(err), said)
	}
	return fmt.Errorf("notify-send: %w", errtext.Cause(err))
}
