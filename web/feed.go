package web

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"cairn/node/api"
)

const (
	feedPath       = "/v1/feed"
	maxFilterTerms = 64
)

// feed is GET /v1/feed: a websocket or server-sent events, the same messages either way.
func (s *Server) feed(w http.ResponseWriter, r *http.Request) {
	switch {
	case websocketAsked(r):
		for name := range r.URL.Query() {
			invalid("query."+name, "is not for websockets: say it in the hello", nil).write(w)
			return
		}
		s.feedWebsocket(w, r)
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	case strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		s.feedSSE(w, r)
	default:
		invalid("header.Accept", "must be text/event-stream, or ask for a websocket with subprotocol "+feedProtocol, nil).write(w)
	}
}

// subscribe counts a feed in, unless the server is closing. The caller must call the returned function when it is gone.
func (s *Server) subscribe(transport string) (leave func(), ok bool) {
	s.feedsMu.Lock()
	defer s.feedsMu.Unlock()
	if s.closed() {
		return nil, false
	}
	s.feeds.Add(1)
	gauge := s.metrics.feeds.WithLabelValues(transport)
	gauge.Inc()
	return func() {
		gauge.Dec()
		s.feeds.Done()
	}, true
}

// pump reads a stream on its own goroutine, so that its reader can wait for more than one thing. messages is not
// buffered: the stream reads the stored feed on demand, and a slow reader costs one message of memory.
type pump struct {
	messages chan api.FeedMessage
	failed   chan error
	stop     context.CancelFunc
	done     sync.WaitGroup
}

func startPump(ctx context.Context, stream api.FeedStream) *pump {
	ctx, stop := context.WithCancel(ctx)
	p := &pump{messages: make(chan api.FeedMessage), failed: make(chan error, 1), stop: stop}
	p.done.Go(func() {
		defer stream.Close()
		for {
			m, err := stream.Next(ctx)
			if err != nil {
				p.failed <- err
				return
			}
			select {
			case p.messages <- m:
			case <-ctx.Done():
				return
			}
		}
	})
	return p
}

func (p *pump) close() {
	p.stop()
	p.done.Wait()
}

// recheck ends an open feed whose credential no longer gives what it gave. An outage of the check is no reason to end one.
func (s *Server) recheck(ctx context.Context, cred credential, caller api.Caller) *ending {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	now, p := s.authenticate(ctx, cred)
	switch {
	case p != nil && p.Code == api.CodeUnauthenticated:
		return &ending{closeDenied, "the key was removed"}
	case p == nil && !reflect.DeepEqual(now, caller):
		return &ending{closeChanged, "the key's rights have changed"}
	}
	return nil
}

// cursorText is epoch:index.sub in decimal.
var cursorText = regexp.MustCompile(`^([0-9]{1,20}):([0-9]{1,20})\.([0-9]{1,20})$`)

// validCursor checks the form of a feed cursor; whether the log has the place is the service's to say.
func validCursor(cursor string) bool {
	m := cursorText.FindStringSubmatch(cursor)
	if m == nil {
		return false
	}
	for _, part := range m[1:] {
		if _, err := strconv.ParseUint(part, 10, 64); err != nil {
			return false
		}
	}
	return true
}

var (
	eventName = regexp.MustCompile(`^[a-z]+\.[a-z_]+$`)
	agentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	taskType  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	poolName  = regexp.MustCompile(`^(own|meta|candidates|agent:[A-Za-z0-9][A-Za-z0-9._-]{0,63})$`)
)

// checkFilter refuses what no event can match by its form, naming the field, and resolves the pool "own".
func checkFilter(f api.FeedFilter, c api.Caller) (api.FeedFilter, *api.Field) {
	for _, list := range []struct {
		name  string
		terms []string
		form  *regexp.Regexp
	}{
		{"types", f.Types, eventName},
		{"pools", f.Pools, poolName},
		{"task_types", f.TaskTypes, taskType},
		{"agents", f.Agents, agentName},
	} {
		if len(list.terms) > maxFilterTerms {
			return f, &api.Field{Location: list.name, Message: fmt.Sprintf("must have at most %d entries", maxFilterTerms)}
		}
		for i, term := range list.terms {
			if !list.form.MatchString(term) {
				bad := field(fmt.Sprintf("%s[%d]", list.name, i), "must match "+list.form.String(), term)
				return f, &bad
			}
		}
	}
	if !(f.MinTrust >= 0 && f.MinTrust <= 1) { // also refuses NaN
		return f, &api.Field{Location: "min_trust", Message: "must be a number from 0 to 1"}
	}
	var pools []string
	for _, p := range f.Pools {
		pools = append(pools, poolOf(p, c))
	}
	f.Pools = pools
	return f, nil
}

// feedOperation describes the feed in the OpenAPI document.
func feedOperation() huma.Operation {
	text := &huma.Schema{Type: huma.TypeString}
	query := func(name, doc string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: doc, Schema: text}
	}
	return huma.Operation{
		Method: http.MethodGet, Path: feedPath, OperationID: "feed", Summary: "Live, resumable events", Tags: []string{tagSystem},
		Description: "As a websocket with subprotocol " + feedProtocol + ": the client says hello within 10 s, with its key (unless it came in a header), " +
			"the cursor to resume after and filters; the server answers welcome and then event and gap messages. Close codes 4000-4499 and 1001 " +
			"mean come back with the cursor, 4500-4999 do not. With Accept: text/event-stream the same messages come as server-sent events. " +
			"alert.raised and alert.cleared go to admins, curators and auditors; their data names the alert as GET /v1/alerts does.",
		Security: []map[string][]string{{"key": {}}},
		Parameters: []*huma.Param{
			query("cursor", "Server-sent events: resume after this place; Last-Event-ID wins"),
			query("types", "Server-sent events: event types, separated by commas"),
			query("pools", "Server-sent events: own, meta, candidates or agent:<id>, separated by commas"),
			query("task_types", "Server-sent events: task types, separated by commas"),
			query("agents", "Server-sent events: agents, separated by commas"),
			query("min_trust", "Server-sent events: least trust"),
			{Name: "Last-Event-ID", In: "header", Schema: text},
		},
		Responses: map[string]*huma.Response{
			"101": {Description: "The websocket is open"},
			"200": {Description: "Server-sent events; each id is a cursor", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: text}}},
		},
	}
}
