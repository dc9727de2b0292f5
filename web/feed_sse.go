package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cairn/node/api"
)

// feedSSE sends the feed as server-sent events; the id of each is the cursor to resume after.
func (s *Server) feedSSE(w http.ResponseWriter, r *http.Request) {
	e := enteredOf(r.Context())
	cursor, filter, p := sseHello(r, e.caller)
	if p != nil {
		p.write(w)
		return
	}
	leave, ok := s.subscribe("sse")
	if !ok {
		s.refused(r.Context(), api.Unavailable("the node is shutting down", time.Second, nil)).write(w)
		return
	}
	defer leave()
	stream, err := s.svc.Feed(r.Context(), e.caller, cursor, filter)
	if err != nil {
		s.refused(r.Context(), err).write(w)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not hold events back
	out := &sseWriter{w: w, rc: http.NewResponseController(w), limit: s.opt.FeedWrite}
	p2 := startPump(r.Context(), stream)
	defer p2.close()
	if out.write([]byte(": cairn feed\n\n")) != nil {
		return
	}
	ping, recheck := time.NewTicker(s.opt.FeedPing), time.NewTicker(s.opt.FeedRecheck)
	defer ping.Stop()
	defer recheck.Stop()
	for {
		var err error
		select {
		case m := <-p2.messages:
			err = out.message(m)
		case err = <-p2.failed:
		case <-ping.C:
			err = out.write([]byte(": ping\n\n"))
		case <-recheck.C:
			if s.recheck(r.Context(), e.cred, e.caller) != nil {
				return
			}
		case <-s.drain:
			return
		case <-r.Context().Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// sseWriter writes whole events, each under the write limit.
type sseWriter struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	limit time.Duration
}

func (o *sseWriter) message(m api.FeedMessage) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	id := m.Cursor
	if m.Type == "gap" {
		id = m.To
	}
	if id != "" {
		b.WriteString("id: " + id + "\n")
	}
	b.WriteString("data: ")
	b.Write(body) // JSON has no line breaks
	b.WriteString("\n\n")
	return o.write(b.Bytes())
}

func (o *sseWriter) write(b []byte) error {
	_ = o.rc.SetWriteDeadline(time.Now().Add(o.limit))
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.rc.Flush()
}

// sseHello reads from the query what a websocket says in its hello.
func sseHello(r *http.Request, c api.Caller) (cursor string, f api.FeedFilter, p *Problem) {
	q := r.URL.Query()
	place := "query.cursor"
	cursor = q.Get("cursor")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		place, cursor = "header.Last-Event-ID", last
	}
	for name := range q {
		value := q.Get(name)
		switch name {
		case "cursor":
		case "types":
			f.Types = strings.Split(value, ",")
		case "pools":
			f.Pools = strings.Split(value, ",")
		case "task_types":
			f.TaskTypes = strings.Split(value, ",")
		case "agents":
			f.Agents = strings.Split(value, ",")
		case "min_trust":
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return "", f, invalid("query.min_trust", "must be a number from 0 to 1", value)
			}
			f.MinTrust = n
		default:
			return "", f, invalid("query."+name, "is not a known parameter", nil)
		}
	}
	if cursor != "" && !validCursor(cursor) {
		return "", f, invalid(place, "must be epoch:index.sub", cursor)
	}
	f, bad := checkFilter(f, c)
	if bad != nil {
		return "", f, invalid("query."+bad.Location, bad.Message, bad.Value)
	}
	return cursor, f, nil
}
