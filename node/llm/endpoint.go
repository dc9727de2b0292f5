package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// endpoint speaks to one model. What it learns about the model (no JSON schema) it keeps.
type endpoint struct {
	role   Role
	model  Model
	client *openai.Client
	format *formatLevel
}

// doer sends requests of the OpenAI client: redirects are not followed, since they would carry the key elsewhere, and an
// answer is cut at maxAnswer.
type doer struct{ http *http.Client }

func newDoer() doer {
	return doer{&http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// retryAfterHeader carries the Retry-After of a failed answer to the caller through the request's context.
type retryAfterHeader struct{}

func (d doer) Do(req *http.Request) (*http.Response, error) {
	res, err := d.http.Do(req)
	if err != nil {
		return nil, err
	}
	if into, ok := req.Context().Value(retryAfterHeader{}).(*string); ok {
		*into = res.Header.Get("Retry-After")
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		res.StatusCode = http.StatusMisdirectedRequest
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, maxAnswer), res.Body}
	return res, nil
}

func newEndpoint(role Role, m Model, d doer, f *formatLevel) *endpoint {
	cfg := openai.DefaultConfig(m.Key)
	cfg.BaseURL, cfg.HTTPClient = strings.TrimRight(m.BaseURL, "/"), d
	return &endpoint{role: role, model: m, client: openai.NewClientWithConfig(cfg), format: f}
}

// message is one turn of a question.
type message struct{ role, text string }

// reply is what came back for one request.
type reply struct {
	text   string
	cut    bool // the answer ended at MaxTokens
	tokens openai.Usage
	known  bool // the endpoint reported tokens
}

// send makes one request, without trying again.
func (e *endpoint) send(ctx context.Context, messages []message, s schema) (reply, error) {
	var retryAfter string
	ctx = context.WithValue(ctx, retryAfterHeader{}, &retryAfter)
	level := e.format.get()
	req := e.request(messages, s, level)
	var out reply
	var err error
	if e.model.Stream {
		out, err = e.stream(ctx, req)
	} else {
		out, err = e.whole(ctx, req)
	}
	if err == nil {
		return out, nil
	}
	err = classify(err, retryAfter)
	if errors.Is(err, errFormat) && level != formatNone {
		e.format.lower(level)
		return e.send(ctx, messages, s) // at most twice: the level only falls
	}
	return out, err
}

func (e *endpoint) request(messages []message, s schema, level int32) openai.ChatCompletionRequest {
	req := openai.ChatCompletionRequest{Model: e.model.Name, Seed: e.model.Seed, Temperature: e.model.Temperature}
	if req.Temperature == 0 {
		req.Temperature = math.SmallestNonzeroFloat32 // 0 would be left out, and the endpoint would take its own default
	}
	if reasons(e.model.Name) {
		req.MaxCompletionTokens, req.Temperature = e.model.MaxTokens, 0
	} else {
		req.MaxTokens = e.model.MaxTokens //nolint:staticcheck // most compatible endpoints know only this one
	}
	for _, m := range messages {
		req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: m.role, Content: m.text})
	}
	switch level {
	case formatSchema:
		req.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: s.name, Schema: s.body},
		}
	case formatObject:
		req.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return req
}

// reasons reports the models that think before they answer and take their token limit under another name.
func reasons(name string) bool {
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (e *endpoint) whole(ctx context.Context, req openai.ChatCompletionRequest) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, e.model.Timeout)
	defer cancel()
	res, err := e.client.CreateChatCompletion(ctx, req)
	if err != nil {
		return reply{}, err
	}
	out := reply{tokens: res.Usage, known: res.Usage.TotalTokens > 0}
	if len(res.Choices) > 0 {
		out.text, out.cut = res.Choices[0].Message.Content, res.Choices[0].FinishReason == openai.FinishReasonLength
	}
	return out, nil
}

// errIdle says that a stream paused longer than the model's timeout.
var errIdle = errors.New("the stream paused for too long")

// stream reads the answer piece by piece; the timeout bounds the wait for each.
func (e *endpoint) stream(ctx context.Context, req openai.ChatCompletionRequest) (reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(e.model.Timeout, func() { cancel(errIdle) })
	defer idle.Stop()
	req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	s, err := e.client.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return reply{}, orCause(ctx, err)
	}
	defer s.Close() //nolint:errcheck // a body that was read
	var out reply
	var text strings.Builder
	for {
		piece, err := s.Recv()
		if errors.Is(err, io.EOF) {
			out.text = text.String()
			return out, nil
		}
		if err != nil {
			return out, orCause(ctx, err)
		}
		idle.Reset(e.model.Timeout)
		if piece.Usage != nil {
			out.tokens, out.known = *piece.Usage, piece.Usage.TotalTokens > 0
		}
		for _, c := range piece.Choices {
			text.WriteString(c.Delta.Content)
			out.cut = out.cut || c.FinishReason == openai.FinishReasonLength
		}
		if text.Len() > maxAnswer {
			return out, fmt.Errorf("answer has more than %d bytes", maxAnswer)
		}
	}
}

func orCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errIdle) {
		return cause
	}
	return err
}

// errFormat says that the endpoint does not take the response format.
var errFormat = errors.New("response format is not supported")

// classify turns an error of the OpenAI client into one of this package. It keeps status and code and drops messages,
// which may repeat the question.
func classify(err error, retryAfter string) error {
	status, code, text := 0, "", ""
	var apiErr *openai.APIError
	var reqErr *openai.RequestError
	switch {
	case errors.As(err, &apiErr):
		status, text = apiErr.HTTPStatusCode, strings.ToLower(apiErr.Message)
		code = firstOf(fmt.Sprint(orEmpty(apiErr.Code)), apiErr.Type)
	case errors.As(err, &reqErr):
		status, text = reqErr.HTTPStatusCode, strings.ToLower(string(reqErr.Body))
	case errors.Is(err, context.Canceled):
		return &callError{kind: ErrUnavailable, detail: "cancelled", cause: context.Canceled}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errIdle):
		return &callError{kind: ErrUnavailable, detail: "no answer in time", cause: context.DeadlineExceeded}
	case isLocal(err):
		return failed(ErrRefused, "the client refuses the parameters for this model")
	default:
		return failed(ErrUnavailable, "no usable answer") // connection, or a body that is no answer
	}
	detail := fmt.Sprintf("status %d", status)
	if code != "" {
		detail += " " + clip(code, 40)
	}
	out := &callError{kind: ErrRefused, detail: detail}
	switch {
	case status == http.StatusRequestEntityTooLarge, status >= 400 && status < 500 && tooLong(code, text):
		out.kind = ErrTooLong
	case (status == 400 || status == 404 || status == 422 || status == 501) && aboutFormat(text):
		out.cause = errFormat
	case status == 408, status == 409, status == 425, status == 429, status >= 500, status == 0:
		out.kind, out.after = ErrUnavailable, waitOf(retryAfter)
	}
	return out
}

func isLocal(err error) bool {
	for _, local := range []error{
		openai.ErrChatCompletionInvalidModel, openai.ErrReasoningModelMaxTokensDeprecated, openai.ErrReasoningModelLimitationsOther,
		openai.ErrReasoningModelLimitationsLogprobs, openai.ErrReasoningSamplingUnsupported,
	} {
		if errors.Is(err, local) {
			return true
		}
	}
	return false
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

func tooLong(code, text string) bool {
	if strings.Contains(code, "context_length") || strings.Contains(code, "exceed_context") {
		return true
	}
	return strings.Contains(text, "context") && (strings.Contains(text, "exceed") || strings.Contains(text, "maximum") ||
		strings.Contains(text, "length") || strings.Contains(text, "too long"))
}

func aboutFormat(text string) bool {
	for _, sign := range []string{"response_format", "json_schema", "json schema", "json_object", "grammar", "guided"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// waitOf reads a Retry-After header: seconds, or a date.
func waitOf(header string) time.Duration {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
