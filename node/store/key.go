package store

import (
	"encoding/binary"

	"github.com/oklog/ulid/v2"
)

// ID is a ULID, the identity of everything that is created in bulk.
type ID = ulid.ULID

// SharedOwner is the owner number of the copies on the candidate shelf and in the meta-pool; agents count from 1.
const SharedOwner uint32 = 0

// A key is: kind (1 byte), interned namespace (u32), interned agent (u32) where it has one, then ids. Numbers are big
// endian so that ranges scan in order; a string is always the last part of its key or followed by a zero byte.
type keyKind byte

const (
	kindMeta            keyKind = 0x01 // name -> value
	kindNamespace       keyKind = 0x02 // name -> Namespace
	kindPrincipal       keyKind = 0x03 // ns, id -> Principal
	kindAgent           keyKind = 0x04 // ns, id -> Agent
	kindAgentNumber     keyKind = 0x05 // ns, number -> agent id
	kindKeyHash         keyKind = 0x06 // sha256 of an API key -> KeyRef
	kindNamespaceNumber keyKind = 0x07 // number -> namespace id
	kindClient          keyKind = 0x08 // client, slot -> clientResult
	kindIdem            keyKind = 0x09 // ns, agent, key -> idemResult
	kindIdemTime        keyKind = 0x0a // time, namespace id, agent, key
	kindCounter         keyKind = 0x0b // ns, name -> int64
	kindSweep           keyKind = 0x0c // ns -> sweepState

	kindTrajectory keyKind = 0x10 // ns, agent, id -> Trajectory
	kindAttempt    keyKind = 0x11 // ns, agent, trajectory, number -> Attempt
	kindGroup      keyKind = 0x12 // ns, agent, hash -> trajectory id
	kindExternal   keyKind = 0x13 // ns, agent, hash -> trajectory id
	kindTrajOwner  keyKind = 0x14 // ns, id -> agent number
	kindTrajTime   keyKind = 0x15 // time, ns, agent, id: retention of raw attempts

	kindExperience keyKind = 0x20 // ns, owner, id -> Experience
	kindVersion    keyKind = 0x21 // ns, owner, id, version -> Experience, as it was
	kindVectors    keyKind = 0x22 // ns, owner, id -> Vectors
	kindOwner      keyKind = 0x23 // ns, id -> owner
	kindHash       keyKind = 0x24 // ns, owner, text hash -> id
	kindFeature    keyKind = 0x25 // ns, owner, trajectory, feature hash -> featureRecord
	kindChild      keyKind = 0x26 // ns, parent, child
	kindExpiry     keyKind = 0x27 // time, ns, owner, id: gate buffer, archive
	kindErasure    keyKind = 0x28 // ns, id -> Erasure
	kindBuffered   keyKind = 0x29 // ns, owner, id: gate buffer in order of age
	kindMerge      keyKind = 0x2a // ns, owner, superseded id -> Merge
	kindAbsorbed   keyKind = 0x2b // ns, owner, text hash of a compacted experience -> strategy id
	kindFused      keyKind = 0x2d // ns, item of the meta-pool, candidate that gave way to it
	kindSource     keyKind = 0x2c // ns, owner, id of what a strategy was made of -> strategy id

	kindReceipt     keyKind = 0x30 // ns, agent, recall id -> Receipt
	kindGiven       keyKind = 0x31 // ns, experience, recall id, agent number
	kindShown       keyKind = 0x32 // ns, candidate, task group, juror
	kindReceiptTime keyKind = 0x33 // time, ns, agent, recall id
	kindWithdrawn   keyKind = 0x34 // ns, agent, experience -> Withdrawn

	kindJury     keyKind = 0x40 // ns, experience -> Jury
	kindAcc      keyKind = 0x41 // ns, experience, version, juror -> Accumulator
	kindEvidence keyKind = 0x42 // ns, experience, citation id -> Evidence
	kindRater    keyKind = 0x43 // ns, juror -> Rater
	kindDecision keyKind = 0x44 // ns, id -> Decision
	kindQuota    keyKind = 0x45 // ns, UTC day, principal -> promotions
	kindSample   keyKind = 0x48 // ns, experience -> Sample
	kindShelf    keyKind = 0x46 // ns, experience: live candidates and promoted items
	kindLedger   keyKind = 0x49 // ns, author principal, reader principal -> Ledger
	kindClaim    keyKind = 0x4a // ns, link, candidate: what candidates say about a task and an action
	kindDeed     keyKind = 0x4b // ns, link, recall id -> deed: what readers saw themselves
	kindTurn     keyKind = 0x4c // ns, agent, task group -> turn

	kindReflection     keyKind = 0x35 // ns, agent, id -> Reflection
	kindReflectionOf   keyKind = 0x36 // ns, agent, recall id -> reflection id
	kindReflectionIn   keyKind = 0x37 // ns, agent, trajectory, id
	kindReflectionTime keyKind = 0x38 // time, ns, agent, id: expiry; the zero id is all of an agent
	kindReflectionBase keyKind = 0x39 // ns, source, agent, id: what its hypotheses were made from

	kindTally       keyKind = 0x50 // ns, task type -> Tally
	kindAgentTally  keyKind = 0x51 // ns, agent, task type -> AgentTally
	kindDeltas      keyKind = 0x52 // ns, agent, task type -> gate ring
	kindAgentTotals keyKind = 0x53 // ns, agent -> Tally
	kindSpent       keyKind = 0x54 // ns, agent id, empty for the namespace -> Spent
	kindSeries      keyKind = 0x55 // ns, hour since 1970 -> Hour

	kindJob    keyKind = 0x60 // id -> Job
	kindDue    keyKind = 0x61 // time, id
	kindJobKey keyKind = 0x62 // ns, job kind, subject -> id

	kindFeed     keyKind = 0x70 // ns, index, sub -> Event
	kindFeedTime keyKind = 0x71 // time, ns, index
	kindChange   keyKind = 0x72 // index, sub -> Change
	kindAlert    keyKind = 0x73 // ns, name -> StandingAlert
)

type keyBuf []byte

func key(k keyKind) keyBuf { return append(make(keyBuf, 0, 64), byte(k)) }

func nsKey(k keyKind, ns uint32) keyBuf { return key(k).u32(ns) }

func (b keyBuf) u32(v uint32) keyBuf { return binary.BigEndian.AppendUint32(b, v) }

func (b keyBuf) u64(v uint64) keyBuf { return binary.BigEndian.AppendUint64(b, v) }

// time orders Unix milliseconds; state times are never negative.
func (b keyBuf) time(ms int64) keyBuf { return b.u64(uint64(max(ms, 0))) }

func (b keyBuf) id(v ID) keyBuf { return append(b, v[:]...) }

func (b keyBuf) hash(v [32]byte) keyBuf { return append(b, v[:]...) }

func (b keyBuf) str(s string) keyBuf { return append(b, s...) }

// word is a string that is followed by more parts. Ids have an alphabet without zero bytes.
func (b keyBuf) word(s string) keyBuf { return append(append(b, s...), 0) }

// upper is the first key after all keys with this prefix.
func upper(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

func lastID(k []byte) ID {
	var id ID
	copy(id[:], k[len(k)-len(id):])
	return id
}
