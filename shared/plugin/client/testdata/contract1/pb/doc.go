// Package pb is a fixed copy of shared/plugin/internal/pb, of version 1 of the contract. From the
// first release on it is never written again: it stands for the plugins that were built then. Before
// that, a change of the protocol that older plugins need not survive is copied here.
package pb
