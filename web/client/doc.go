// Package client speaks to a Cairn node over HTTP and the websocket feed. It has one method for every call of api.Service,
// with the same names and types; who calls comes from the key.
//
// Writes carry an Idempotency-Key that the client makes, so a write whose answer was lost is sent again and done once.
// Errors of the server are *api.Error with code, detail and fields; Status tells the HTTP status behind one. A Client is
// safe for concurrent use.
package client
