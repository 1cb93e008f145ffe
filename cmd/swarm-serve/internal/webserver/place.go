package webserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/host/web"
	"github.com/swarmhost/swarm/shared/safefile"
)

// placeFile is the file in the state directory that keeps the address of the pages, so that a
// bookmark of it works at the next server, too.
const placeFile = "web.json"

const maxPlace = 4 << 10

// place is where the pages of a state directory are. Each port has a path of its own: browsers send
// a cookie to all ports of a host name, and a page that is still open asks for its path at its port,
// where another program may listen by now, which learns the path then.
type place struct {
	// Path is the part of the address that can't be guessed, at Port.
	Path string `json:"path"`
	// Port is the port of 127.0.0.1 that was free at the first time; 0: none was chosen.
	Port int `json:"port"`
	// Key is the secret from which the paths at other ports follow.
	Key string `json:"key"`
}

var validPath = regexp.MustCompile(`^[a-z0-9]{26,64}$`)

// loadPlace returns the address that the pages had before, or a new one. A file that can't
// be used is replaced; err says why.
func loadPlace(dir string, fresh bool) (p place, err error) {
	if !fresh {
		var text []byte
		text, err = safefile.Read(filepath.Join(dir, placeFile), maxPlace)
		if err == nil {
			err = json.Unmarshal(text, &p)
		}
		if err == nil && validPath.MatchString(p.Path) && validPath.MatchString(p.Key) && p.Port >= 0 && p.Port < 1<<16 {
			return p, nil
		}
		if err == nil {
			err = errors.New("it has no address")
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		} else {
			err = fmt.Errorf("the earlier address can't be read from %s, so there is a new one: %w", placeFile, err)
		}
	}
	return place{Path: web.NewPath(), Key: web.NewPath()}, err
}

// pathAt returns the path of the pages of a server at a port; 0 is that of a unix socket.
func (p place) pathAt(port int) string {
	if port != 0 && port == p.Port {
		return p.Path
	}
	mac := hmac.New(sha256.New, []byte(p.Key))
	mac.Write([]byte(strconv.Itoa(port)))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil))[:26])
}

// save keeps the address for the next server.
func (p place) save(dir string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, placeFile)
	old, err := safefile.Read(path, maxPlace)
	if err == nil && string(old) == string(text)+"\n" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := safefile.ReplaceCache(path, append(text, '\n')); err != nil {
		return fmt.Errorf("the address can't be kept for the next 'swarm web': %w", err)
	}
	return nil
}

// at returns the address to listen at: the port of the place where any one will do.
func (p place) at(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port != "0" || p.Port == 0 {
		return address
	}
	return net.JoinHostPort(host, strconv.Itoa(p.Port))
}
