package api

import "context"

// CurateRequest goes with hold, release and revoke. A dry run changes nothing and lists what would.
type CurateRequest struct {
	Reason string `json:"reason,omitempty" maxLength:"2000"`
	DryRun bool   `json:"dry_run,omitempty"`
}

// Curated says what a hold, release or revocation changes.
type Curated struct {
	Experience string   `json:"experience"`
	Status     string   `json:"status" doc:"After the action; as it stands in a dry run"`
	Closes     []string `json:"closes" doc:"Derived experiences that follow"`
	Notifies   []string `json:"notifies" doc:"Agents that were given any of them"`
	DryRun     bool     `json:"dry_run"`
	Index      uint64   `json:"index"`
}

// DecideRequest goes with the approval or rejection of a promotion.
type DecideRequest struct {
	Reason string `json:"reason,omitempty" maxLength:"2000"`
}

// SignedPromotion is a decision with a signature of the node that exported it. Payload is the JSON of the promotion as it was
// signed, Ed25519 over "cairn.decision.v1\n" + payload.
type SignedPromotion struct {
	Payload   string `json:"payload"`
	Algorithm string `json:"algorithm"`
	Node      string `json:"node"`
	PublicKey string `json:"public_key" doc:"Base64 of the node's 32-byte public key"`
	Signature string `json:"signature" doc:"Base64"`
}

// SettingsPreview lists what a change of settings would promote or demote on the present state.
type SettingsPreview struct {
	Promotes []PreviewItem `json:"promotes"`
	Demotes  []PreviewItem `json:"demotes"`
	Looked   int           `json:"looked"`
}

// PreviewItem is one item whose verdict would change.
type PreviewItem struct {
	Experience string  `json:"experience"`
	Trust      float64 `json:"trust"`
	WouldBe    float64 `json:"would_be"`
	Verdict    string  `json:"verdict"`
}

// Alert is a sign of collusion or ill health, computed from the present state. Nothing is acted on by itself.
type Alert struct {
	ID          string   `json:"id" doc:"The same for the same sign about the same thing, also on the feed"`
	Kind        string   `json:"kind"`
	Severity    string   `json:"severity" enum:"info,warning,critical"`
	Detail      string   `json:"detail"`
	Members     []string `json:"members" doc:"Principals or agents it is about"`
	Experiences []string `json:"experiences" doc:"What to look at"`
	Value       float64  `json:"value"`
	Limit       float64  `json:"limit"`
	RaisedAt    string   `json:"raised_at,omitempty" doc:"When the feed said alert.raised; absent until then"`
}

// Sample is one item of an audit sample with its verdict, once given.
type Sample struct {
	ID         string     `json:"id"`
	Experience Experience `json:"experience"`
	Verdict    string     `json:"verdict,omitempty" enum:"good,bad,unsure"`
	By         string     `json:"by,omitempty"`
	At         string     `json:"at,omitempty"`
}

// Samples is a drawn audit sample with what verdicts so far say: the share of bad items with its 95 % Wilson interval.
type Samples struct {
	Items  []Sample `json:"items"`
	Judged int      `json:"judged"`
	Bad    float64  `json:"bad"`
	Low    float64  `json:"low"`
	High   float64  `json:"high"`
}

// SampleVerdict is an auditor's verdict on a sampled item.
type SampleVerdict struct {
	Verdict string `json:"verdict" enum:"good,bad,unsure"`
}

// LedgerEntry is what the verified outcomes of a reader principal say about the candidates of an author principal.
type LedgerEntry struct {
	Reader       string `json:"reader"`
	Author       string `json:"author"`
	Agreed       int64  `json:"agreed"`
	Contradicted int64  `json:"contradicted"`
	Proof        string `json:"proof" enum:"proven,unproven,disproved"`
}

// Curation is the part of the service for those who look after a shared memory.
type Curation interface {
	// Curate holds, releases or revokes; action is one of hold, release, revoke.
	Curate(ctx context.Context, c Caller, id, action string, req CurateRequest, w Write) (Done[Curated], error)
	DecidePromotion(ctx context.Context, c Caller, id string, approve bool, req DecideRequest, w Write) (Done[Promotion], error)
	SignedPromotion(ctx context.Context, c Caller, id string) (SignedPromotion, error)
	PreviewSettings(ctx context.Context, c Caller, namespace string, req Settings) (SettingsPreview, error)
	Alerts(ctx context.Context, c Caller) (List[Alert], error)
	// Ledger lists what readers know about authors; an empty reader is the caller's principal, everybody's for the privileged.
	Ledger(ctx context.Context, c Caller, reader string, p Page) (List[LedgerEntry], error)
	// AuditSamples draws n items of the meta-pool that were not sampled before, and lists those that were; n = 0 draws none.
	AuditSamples(ctx context.Context, c Caller, n int) (Samples, error)
	JudgeSample(ctx context.Context, c Caller, id string, req SampleVerdict, w Write) (Done[Sample], error)
}
