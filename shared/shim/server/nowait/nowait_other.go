//go:build !linux

package nowait

import "os"

// Reader reads a file.
type Reader struct{ f *os.File }

// Writer writes to a file.
type Writer struct{ f *os.File }

// NewReader returns a reader of a file.
func NewReader(f *os.File) *Reader { return &Reader{f} }

// NewWriter returns a writer to a file.
func NewWriter(f *os.File) *Writer { return &Writer{f} }

// Read is [os.File.Read].
func (r *Reader) Read(b []byte) (int, error) { return r.f.Read(b) }

// Write is [os.File.Write].
func (w *Writer) Write(b []byte) (int, error) { return w.f.Write(b) }
