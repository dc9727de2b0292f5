package api

import (
	"context"
	"time"
)

// Write carries what a write request says about itself: the idempotency key, if any, and the SHA-256 of method, path and
// body, by which a repeat with another body is told apart.
type Write struct {
	IdempotencyKey string
	BodyHash       [32]byte
}

// Done is the answer of a write: Index is the session token (`Cairn-Index`), Replayed says that this is the first answer
// again, Status the HTTP status of a success (201, 200, 202).
type Done[T any] struct {
	Value    T
	Index    uint64
	Replayed bool
	Status   int
}

// Read is the consistency a read asks for.
type Read struct {
	Consistency string // "", local, session, linear
	Index       uint64 // session: wait until applied and indexed, at most 5 s
}

// FeedStream delivers a caller's events in order, each once. It reads the stored feed on demand, so a slow reader costs no
// memory. It belongs to one goroutine.
type FeedStream interface {
	// Next blocks until there is a message or ctx ends. The first message is the welcome.
	Next(ctx context.Context) (FeedMessage, error)
	Close()
}

// Service is what a node does for its callers. Every method checks the caller's rights; every error is an *Error or is
// reported as internal. Methods are safe for concurrent use.
type Service interface {
	Curation
	Operations
	ModelService

	Authenticate(ctx context.Context, bearer string) (Caller, error)
	// AwaitRead waits until a read with this consistency may be served and returns the applied index it will see.
	AwaitRead(ctx context.Context, r Read) (uint64, error)

	CreateAgent(ctx context.Context, c Caller, req CreateAgent, w Write) (Done[CreatedAgent], error)
	Agents(ctx context.Context, c Caller, p Page) (List[Agent], error)
	Agent(ctx context.Context, c Caller, id string) (Agent, error)
	UpdateAgent(ctx context.Context, c Caller, id string, req UpdateAgent, w Write) (Done[Agent], error)
	RemoveAgent(ctx context.Context, c Caller, id string, w Write) (Done[struct{}], error)
	CreateKey(ctx context.Context, c Caller, agent string, w Write) (Done[CreatedKey], error)
	RemoveKey(ctx context.Context, c Caller, agent, keyID string, w Write) (Done[struct{}], error)
	CreatePrincipal(ctx context.Context, c Caller, req CreatePrincipal, w Write) (Done[Principal], error)
	Principals(ctx context.Context, c Caller, p Page) (List[Principal], error)
	UpdatePrincipal(ctx context.Context, c Caller, id string, req UpdatePrincipal, w Write) (Done[Principal], error)
	CreateNamespace(ctx context.Context, c Caller, req CreateNamespace, w Write) (Done[Namespace], error)
	Namespaces(ctx context.Context, c Caller, p Page) (List[Namespace], error)
	Settings(ctx context.Context, c Caller, namespace string) (Settings, error)
	UpdateSettings(ctx context.Context, c Caller, namespace string, req Settings, w Write) (Done[Settings], error)

	RecordTrajectory(ctx context.Context, c Caller, req RecordTrajectory, wait time.Duration, w Write) (Done[RecordedTrajectory], error)
	Trajectory(ctx context.Context, c Caller, id string) (Trajectory, error)
	AddExperience(ctx context.Context, c Caller, req AddExperience, w Write) (Done[Experience], error)
	Experiences(ctx context.Context, c Caller, f ListFilter) (List[Experience], error)
	Experience(ctx context.Context, c Caller, id string) (Experience, error)
	// PatchExperience and EraseExperience take the version of If-Match; 0 = the header was absent, which is refused (412).
	PatchExperience(ctx context.Context, c Caller, id string, version int, req PatchExperience, w Write) (Done[Experience], error)
	EraseExperience(ctx context.Context, c Caller, id string, version int, w Write) (Done[Erased], error)
	Erasure(ctx context.Context, c Caller, receipt string) (Erasure, error)
	RestoreExperience(ctx context.Context, c Caller, id string, w Write) (Done[Experience], error)
	NominateExperience(ctx context.Context, c Caller, id string, w Write) (Done[Experience], error)
	// Merges lists the caller's, everybody's for the privileged. UndoMerge takes one back, once.
	Merges(ctx context.Context, c Caller, p Page) (List[Merge], error)
	UndoMerge(ctx context.Context, c Caller, id string, w Write) (Done[Merge], error)
	Trust(ctx context.Context, c Caller, id string) (TrustDetail, error)
	Provenance(ctx context.Context, c Caller, id string) (Graph, error)
	History(ctx context.Context, c Caller, id string) (List[Experience], error)
	ExperienceReceipts(ctx context.Context, c Caller, id string, p Page) (List[ReceiptView], error)
	Receipts(ctx context.Context, c Caller, agent, from, to string, p Page) (List[ReceiptView], error)
	Meta(ctx context.Context, c Caller, f ListFilter) (List[Experience], error)
	Candidates(ctx context.Context, c Caller, p Page) (List[Experience], error)
	Buffer(ctx context.Context, c Caller, p Page) (List[Experience], error)
	Promotions(ctx context.Context, c Caller, status string, p Page) (List[Promotion], error)
	Promotion(ctx context.Context, c Caller, id string) (Promotion, error)
	ReplayPromotion(ctx context.Context, c Caller, id string) (Replay, error)

	Recall(ctx context.Context, c Caller, req RecallRequest) (RecallAnswer, error)
	Outcome(ctx context.Context, c Caller, receipt string, req OutcomeRequest, w Write) (Done[OutcomeAnswer], error)
	// Reflect compares a failure with a past success; RetryOutcome says how the retry ended. At most 3 retries follow a
	// recall.
	Reflect(ctx context.Context, c Caller, req ReflectRequest, w Write) (Done[RetryAdvice], error)
	RetryOutcome(ctx context.Context, c Caller, id string, req RetryRequest, w Write) (Done[RetryAdvice], error)

	// Feed opens a stream strictly after the cursor; a bad cursor is CodeInvalid with location "cursor".
	Feed(ctx context.Context, c Caller, cursor string, f FeedFilter) (FeedStream, error)
	Jobs(ctx context.Context, c Caller, status string, p Page) (List[Job], error)
	RetryJob(ctx context.Context, c Caller, id string, w Write) (Done[Job], error)
	Stats(ctx context.Context, c Caller) (Stats, error)
	PredictorStats(ctx context.Context, c Caller) (PredictorStats, error)
	// Ready is nil when the node knows a leader, has applied and indexed what was committed, and has disk space.
	Ready(ctx context.Context) error
}
