package screen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrRemote says that an external screener gave no usable answer. Nothing is shared then; the nomination is tried again.
var ErrRemote = errors.New("external screener gave no usable answer")

const (
	maxScreenAnswer = 1 << 20 // bytes
	maxFindings     = 1000
)

// Remote asks an external service after the built-in rules. The service gets what the rules left, never what they took out:
//
//	POST <url>  {"scenario": "...", "content": "...", "keywords": ["..."]}
//	200         {"findings": [{"field": "content", "kind": "personal", "rule": "name", "start": 5, "end": 9, "action": "redact"}]}
//
// field is scenario, content or keywords[i]; kind secret, personal, instruction or hidden; rule a short name of a-z, 0-9
// and _; start and end are byte offsets into the UTF-8 of that field; action pass, redact or quarantine. The stricter of both
// verdicts holds. Any other answer, or none within the timeout, is ErrRemote. It is safe for concurrent use.
type Remote struct {
	url  string
	key  string
	http *http.Client
}

// NewRemote makes a screener of a service's URL, with a bearer key unless that is empty. timeout bounds one call; 0 is 5 s.
func NewRemote(service, key string, timeout time.Duration) (*Remote, error) {
	u, err := url.Parse(service)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("external screener: %q is no http or https URL", service)
	}
	if timeout <= 0 {
		timeout = 5 * time.Second
	}
	return &Remote{url: service, key: key, http: &http.Client{
		Timeout: timeout, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute},
		// a redirect would carry the text elsewhere
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close drops idle connections.
func (r *Remote) Close() { r.http.CloseIdleConnections() }

type remoteText struct {
	Scenario string   `json:"scenario"`
	Content  string   `json:"content"`
	Keywords []string `json:"keywords"`
}

type remoteFinding struct {
	Field  string `json:"field"`
	Kind   Kind   `json:"kind"`
	Rule   string `json:"rule"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Action Action `json:"action"`
}

// Screen implements Screener.
func (r *Remote) Screen(ctx context.Context, scenario, content string, keywords []string) (Fielded, error) {
	out := Fields(scenario, content, keywords)
	found, err := r.ask(ctx, remoteText{out.Scenario, out.Content, append([]string{}, out.Keywords...)})
	if err != nil {
		return Fielded{}, err
	}
	fields := map[string]*string{"scenario": &out.Scenario, "content": &out.Content}
	for i := range out.Keywords {
		fields["keywords["+strconv.Itoa(i)+"]"] = &out.Keywords[i]
	}
	byField := map[string][]Finding{}
	for _, f := range found {
		text, ok := fields[f.Field]
		if !ok || !f.fits(*text) {
			return Fielded{}, fmt.Errorf("%w: a finding does not fit the text", ErrRemote)
		}
		finding := Finding(f)
		out.Findings = append(out.Findings, finding)
		out.Action = stricter(out.Action, f.Action)
		if f.Action != Pass {
			byField[f.Field] = append(byField[f.Field], finding)
		}
	}
	for name, list := range byField {
		slices.SortStableFunc(list, func(a, b Finding) int { return a.Start - b.Start })
		*fields[name] = redact(*fields[name], list)
	}
	return out, nil
}

var ruleName = regexp.MustCompile(`^[a-z0-9_]{1,40}$`)

// fits reports whether a finding is one that text can have.
func (f remoteFinding) fits(text string) bool {
	switch f.Kind {
	case Secret, Personal, Instruction, Hidden:
	default:
		return false
	}
	if f.Action != Pass && f.Action != Redact && f.Action != Quarantine || !ruleName.MatchString(f.Rule) {
		return false
	}
	return f.Start >= 0 && f.Start < f.End && f.End <= len(text) && onRune(text, f.Start) && onRune(text, f.End)
}

func onRune(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }

func (r *Remote) ask(ctx context.Context, text remoteText) ([]remoteFinding, error) {
	body, err := json.Marshal(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRemote, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRemote, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	res, err := r.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: no answer", ErrRemote) // the error of the client holds the URL, which may hold a key
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: status %d", ErrRemote, res.StatusCode)
	}
	var answer struct {
		Findings []remoteFinding `json:"findings"`
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxScreenAnswer+1))
	if err != nil || len(raw) > maxScreenAnswer || json.Unmarshal(raw, &answer) != nil || !strings.Contains(string(raw), `"findings"`) {
		return nil, fmt.Errorf("%w: the answer cannot be read", ErrRemote)
	}
	if len(answer.Findings) > maxFindings {
		return nil, fmt.Errorf("%w: %d findings", ErrRemote, len(answer.Findings))
	}
	return answer.Findings, nil
}
