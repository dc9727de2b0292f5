package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"cairn/node/api"
	"cairn/web/client"
)

const (
	// maxBatchAttempts and maxBatchBytes keep a request under the limits of POST /v1/trajectories.
	maxBatchAttempts = 16
	maxBatchBytes    = 1 << 20
	// distilWait is how long the request that completes a group waits for what was distilled before it is asked for.
	distilWait = 30 * time.Second
	// distilLimit is when an import stops asking: the work is queued and goes on without it.
	distilLimit = 5 * time.Minute
)

// sender sends groups, several at once, the rows of one group in their order.
type sender struct {
	client *client.Client
	file   io.ReaderAt
	done   func(rows int)

	mu     sync.Mutex
	result *Result
}

// batch is a part of a group that fits into one request.
type batch struct {
	task     string
	taskType string
	key      string
	places   []place
	attempts []api.Attempt
	bytes    int
}

func (s *sender) run(ctx context.Context, groups [][]place, parallel int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan []place)
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			for g := range queue {
				if err := s.group(ctx, g); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	for _, g := range groups {
		select {
		case queue <- g:
		case <-ctx.Done():
		}
	}
	close(queue)
	wg.Wait()
	return context.Cause(ctx)
}

// group records one group and counts what became of it. It returns an error only where going on is of no use.
func (s *sender) group(ctx context.Context, places []place) error {
	batches, err := s.batches(places)
	if err != nil {
		return err
	}
	var last api.RecordedTrajectory
	fresh := 0
	for i, b := range batches {
		got, n, err := s.record(ctx, b, i == len(batches)-1)
		if err != nil {
			return err
		}
		fresh += n
		if got.ID != "" {
			last = got
		}
		s.done(len(b.places))
	}
	if fresh == 0 {
		return nil
	}
	return s.gated(ctx, last.ID, fresh)
}

// batches cuts a group into requests; rows of one group whose task reads differently do not share one.
func (s *sender) batches(places []place) ([]*batch, error) {
	var out []*batch
	for _, p := range places {
		r, err := readRow(s.file, p)
		if err != nil {
			return nil, fmt.Errorf("line %d has changed: %w", p.line, err)
		}
		if n := len(out); n == 0 || !out[n-1].takes(r, p) {
			out = append(out, &batch{task: r.Task, taskType: r.Domain, key: r.group()})
		}
		b := out[len(out)-1]
		b.places = append(b.places, p)
		b.attempts = append(b.attempts, r.attempt())
		b.bytes += p.length
	}
	return out, nil
}

func (b *batch) takes(r *row, p place) bool {
	return b.task == r.Task && len(b.places) < maxBatchAttempts && b.bytes+p.length <= maxBatchBytes
}

// record sends a batch. Where it is refused its rows are sent one by one, so that one bad row does not take the others
// with it. It returns the last answer and how many attempts were new.
func (s *sender) record(ctx context.Context, b *batch, last bool) (api.RecordedTrajectory, int, error) {
	got, err := s.send(ctx, b, b.attempts, last)
	if err == nil {
		s.count(got)
		return got, got.Recorded, nil
	}
	if !refused(err) {
		return got, 0, err
	}
	if len(b.attempts) == 1 {
		s.fail(b.places[0], err)
		return got, 0, nil
	}
	return s.oneByOne(ctx, b, last)
}

func (s *sender) oneByOne(ctx context.Context, b *batch, last bool) (got api.RecordedTrajectory, fresh int, err error) {
	good, complete := -1, false
	for i := range b.attempts {
		end := last && i == len(b.attempts)-1
		one, err := s.send(ctx, b, b.attempts[i:i+1], end)
		switch {
		case err == nil:
			s.count(one)
			got, fresh, good, complete = one, fresh+one.Recorded, i, end
		case refused(err):
			s.fail(b.places[i], err)
		default:
			return got, fresh, err
		}
	}
	if !last || complete || good < 0 {
		return got, fresh, nil
	}
	// The row that would have completed the group was refused: a known row carries the word instead.
	got, err = s.send(ctx, b, b.attempts[good:good+1], true)
	return got, fresh, err
}

func (s *sender) send(ctx context.Context, b *batch, attempts []api.Attempt, complete bool) (api.RecordedTrajectory, error) {
	wait := time.Duration(0)
	if complete {
		wait = distilWait
	}
	done, err := s.client.RecordTrajectory(ctx, api.RecordTrajectory{
		GroupKey: b.key, Complete: complete, Task: b.task, TaskType: b.taskType, Attempts: attempts,
	}, wait)
	return done.Value, err
}

// refused tells an answer about the rows themselves from a failure of the server, the key or the connection.
func refused(err error) bool {
	var e *api.Error
	if !errors.As(err, &e) {
		return errors.As(err, new(*json.UnsupportedValueError))
	}
	return e.Code == api.CodeInvalid || e.Code == api.CodeTooLarge || e.Code == api.CodeConflict
}

func (s *sender) count(t api.RecordedTrajectory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result.Recorded += t.Recorded
	s.result.AlreadyKnown += t.Known
}

func (s *sender) fail(p place, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result.fail(p.line, describe(err))
}

// describe says what the server found, field by field.
func describe(err error) error {
	var e *api.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	var parts []string
	for _, f := range e.Fields {
		part := f.Location + ": " + f.Message
		if f.Value != nil {
			part += fmt.Sprintf(" (got %v)", f.Value)
		}
		parts = append(parts, part)
	}
	return errors.New(strings.Join(parts, "; "))
}

// gated counts a group's routes and experiences once it has been distilled. Its fresh attempts are the last ones.
func (s *sender) gated(ctx context.Context, id string, fresh int) error {
	t, err := s.distilled(ctx, id)
	if err != nil {
		return fmt.Errorf("trajectory %s: %w", id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range t.Gate {
		if g.Attempt >= len(t.Attempts)-fresh {
			s.result.Routes.add(g.Route)
		}
	}
	s.result.Experiences += len(t.Experiences)
	return nil
}

func (s *sender) distilled(ctx context.Context, id string) (api.Trajectory, error) {
	ctx, cancel := context.WithTimeout(ctx, distilLimit)
	defer cancel()
	pause := 50 * time.Millisecond
	for {
		t, err := s.client.Trajectory(ctx, id)
		if err != nil || t.Status == "distilled" {
			return t, err
		}
		if t.Status == "failed" {
			return t, errors.New("distilling failed; `GET /v1/jobs?status=dead` says why")
		}
		select {
		case <-ctx.Done():
			return t, fmt.Errorf("still %s after %v; the work goes on", t.Status, distilLimit)
		case <-time.After(pause):
			pause = min(2*pause, 2*time.Second)
		}
	}
}
