package profiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/swarmhost/swarm/host/profile/bundle"
)

// downloadLimit is the time after which a download is given up, and redirects how often it may be
// sent elsewhere.
const (
	downloadLimit = time.Minute
	redirects     = 5
)

// client follows redirects to https alone.
var client = http.Client{
	Timeout: downloadLimit,
	CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case req.URL.Scheme != "https":
			return errors.New("it is redirected to an address without https")
		case len(via) > redirects:
			return fmt.Errorf("it is redirected more than %d times", redirects)
		}
		return nil
	},
}

// download returns the archive at an address.
func download(ctx context.Context, url string) (archive []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err // it names the address
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server answers %s", url, resp.Status)
	}
	archive, err = io.ReadAll(io.LimitReader(resp.Body, bundle.MaxArchive+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if len(archive) > bundle.MaxArchive {
		return nil, fmt.Errorf("%s: it is larger than %d MiB", url, bundle.MaxArchive>>20)
	}
	return archive, nil
}
