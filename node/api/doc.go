// Package api holds the wire types of Cairn's service and the Service interface itself: the requests and answers that
// REST, the feed, the command line and the Go client share. Names, units and limits follow the wire contract: snake_case,
// times in RFC 3339 UTC with milliseconds, ids as ULIDs, scores in [0,1].
//
// The package has no behaviour beyond formatting and error codes and imports nothing of Cairn, so that a client can use it
// without pulling in the server.
package api
