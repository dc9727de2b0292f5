package api

// ReflectRequest reports a failure after a recall. The last attempt of the trajectory is the one that failed; all of them
// are recorded as by POST /trajectories, in the group of the task, under the receipt.
type ReflectRequest struct {
	Receipt    string           `json:"receipt" minLength:"1" maxLength:"4096" doc:"Of the recall after which it failed; the same for every retry"`
	Trajectory RecordTrajectory `json:"trajectory"`
}

// RetryRequest reports how a retry ended.
type RetryRequest struct {
	Success    bool              `json:"success"`
	Trajectory *RecordTrajectory `json:"trajectory,omitempty" doc:"The retry as its last attempt; without one a success teaches nothing"`
}

// RetryAdvice is a hypothesis for a retry, or where a reflection ended.
type RetryAdvice struct {
	ID          string   `json:"id"`
	Status      string   `json:"status" enum:"open,solved,exhausted" doc:"open: a retry is under way; solved: one succeeded; exhausted: all failed"`
	Attempt     int      `json:"attempt" minimum:"1" maximum:"3" doc:"Number of the retry that the hypothesis is for"`
	Hypothesis  string   `json:"hypothesis" doc:"What to do differently; quoted data, empty when there is nothing to compare with, or when the reflection ended"`
	BasedOn     []string `json:"based_on" doc:"Ids of the experiences and trajectories it was made from"`
	Generator   string   `json:"generator" doc:"Rules or model, with version"`
	RetriesLeft int      `json:"retries_left" minimum:"0" maximum:"2" doc:"Retries after this one"`
	Trajectory  string   `json:"trajectory" doc:"Id of the group that holds the failure and the retries"`
	Job         string   `json:"job,omitempty" doc:"The job that distils a retry that succeeded"`
	Warnings    []Field  `json:"warnings,omitempty"`
	Index       uint64   `json:"index"`
}
