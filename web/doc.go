// Package web is the outside of a node: REST with its OpenAPI document, the event feed over websocket and server-sent
// events, sign-in, metrics and the embedded page. It holds no rules of memory; it checks what comes in, asks an api.Service
// and renders what comes out.
//
// A request passes, in this order: metrics and panic guard, security headers, Host and Origin, the path as it was sent,
// the route, the key, the body as raw bytes, the schema, the service. Everything that is refused on the way gets a problem
// document (RFC 9457) with a code of the wire contract.
package web
