// Package signature verifies the signatures that authors of plugins make with minisign.
package signature

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"aead.dev/minisign"
)

// Suffix ends the name of the file with the signature of another file.
const Suffix = ".minisig"

// MaxSize bounds the size of a signature, in bytes.
const MaxSize = 8 << 10

// Key is a public key of minisign. The zero value stands for no key.
type Key struct {
	// text is the key as minisign prints it, on one line.
	text string
}

// ParseKey reads a public key: the line that "minisign -G" prints, or the whole of minisign.pub. An
// empty text is the zero value.
func ParseKey(text string) (Key, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	k := Key{text: strings.TrimSpace(lines[len(lines)-1])}
	if k.text == "" {
		return Key{}, nil
	}
	if err := new(minisign.PublicKey).UnmarshalText([]byte(k.text)); err != nil {
		return Key{}, fmt.Errorf("expected a public key of minisign, such as the second line of minisign.pub, got %q", text)
	}
	return k, nil
}

// IsZero reports whether k is the zero value.
func (k Key) IsZero() bool { return k.text == "" }

// String returns the key on one line, as [ParseKey] reads it.
func (k Key) String() string { return k.text }

// ID returns the name of the key that minisign shows to people. It does not prove which key it is.
func (k Key) ID() string { return fmt.Sprintf("%016X", k.public().ID()) }

// public returns the key of a text that [ParseKey] has accepted.
func (k Key) public() (p minisign.PublicKey) {
	_ = p.UnmarshalText([]byte(k.text))
	return p
}

// MarshalText is for encodings.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.text), nil }

// UnmarshalText is for encodings.
func (k *Key) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKey(string(text))
	return err
}

// errNotSigned means that a signature is not that of the content by the key.
var errNotSigned = errors.New("it is not the signature of this file")

// Verify reads content to its end and returns nil if signature is that of the key for exactly this
// content. Signatures of the older kind, which "minisign -l" makes, are refused: to verify one the whole
// content has to be in memory.
func (k Key) Verify(content io.Reader, signature []byte) error {
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return errors.New("it is not a signature of minisign")
	}
	switch {
	case k.IsZero():
		return errors.New("there is no key to verify it with")
	case s.KeyID != k.public().ID():
		return fmt.Errorf("it is by the key %016X, expected %s", s.KeyID, k.ID())
	case s.Algorithm != minisign.HashEdDSA:
		return errors.New("it is of the older kind: sign again without -l, with minisign 0.10 or newer")
	}
	r := minisign.NewReader(content)
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if !r.Verify(k.public(), signature) {
		return errNotSigned
	}
	return nil
}
