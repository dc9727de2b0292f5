package clusterbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/hashicorp/raft"

	"cairn/consensus"
)

// truncated is the number of entries that are removed at once.
const truncated = 8192

// warmBatches are appended to each log before anything is measured, and all but the last 8,192 entries are removed, as
// after a snapshot: a log that has just been made still grows its files.
const warmBatches = 1200

// logTimes are the seconds of one synced append of 64 entries and of one removal.
type logTimes struct {
	Append   float64 `json:"append"`
	Truncate float64 `json:"truncate"`
}

// logs compares the log stores by themselves, each on a new folder every round.
func (b *bench) logs(ctx context.Context) error {
	var append64, append64Bolt, truncate, truncateBolt rounds
	for range b.sizes.rounds {
		ours, err := b.ourLog()
		if err != nil {
			return err
		}
		append64, truncate = append(append64, ours.Append*1e3), append(truncate, ours.Truncate*1e3)
		if b.peer == "" {
			continue
		}
		theirs, err := b.boltLog(ctx)
		if err != nil {
			return err
		}
		append64Bolt, truncateBolt = append(append64Bolt, theirs.Append*1e3), append(truncateBolt, theirs.Truncate*1e3)
		b.Progress(fmt.Sprintf("append %.2f and %.2f ms, truncate %.3f and %.1f ms", last(append64), last(append64Bolt), last(truncate), last(truncateBolt)))
	}
	if b.peer == "" {
		b.out.put("logstore_batch64_ms", append64, nil)
		b.out.put("truncation_ms", truncate, nil)
		return nil
	}
	b.out.put("logstore_batch64_vs_bolt", append64Bolt.over(append64), nil)
	b.out.put("logstore_batch64_ms", append64, new(append64Bolt.median()))
	b.out.put("truncation_vs_bolt", truncateBolt.over(truncate), nil)
	b.out.put("truncation_ms", truncate, new(truncateBolt.median()))
	return nil
}

func (b *bench) ourLog() (t logTimes, err error) {
	dir, err := os.MkdirTemp(b.dir, "log-")
	if err != nil {
		return t, err
	}
	defer removeAll(dir)
	log, err := consensus.OpenLog(dir, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	next := uint64(1)
	value := randomValue(valueBytes)
	store := func() error {
		entries := make([]*raft.Log, 64)
		for i := range entries {
			entries[i] = &raft.Log{Index: next, Term: 1, Data: value, AppendedAt: time.Now()}
			next++
		}
		return log.StoreLogs(entries)
	}
	for range warmBatches {
		if err := store(); err != nil {
			return t, err
		}
	}
	first := next - truncated
	if err := log.DeleteRange(1, first-1); err != nil {
		return t, err
	}
	start := time.Now()
	for range b.sizes.batches {
		if err := store(); err != nil {
			return t, err
		}
	}
	t.Append = time.Since(start).Seconds() / float64(b.sizes.batches)
	start = time.Now()
	err = log.DeleteRange(first, first+truncated-1)
	t.Truncate = time.Since(start).Seconds()
	return t, err
}

func (b *bench) boltLog(ctx context.Context) (t logTimes, err error) {
	dir, err := os.MkdirTemp(b.dir, "bolt-")
	if err != nil {
		return t, err
	}
	defer removeAll(dir)
	out, err := exec.CommandContext(ctx, b.peer, "bolt", "-dir", dir, "-warm", strconv.Itoa(warmBatches), "-batches", strconv.Itoa(b.sizes.batches),
		"-size", strconv.Itoa(valueBytes), "-truncate", strconv.Itoa(truncated)).Output()
	if err != nil {
		return t, fmt.Errorf("raft-boltdb: %w", err)
	}
	return t, json.Unmarshal(out, &t)
}
