package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

type helpCmd struct {
	Topic string `arg:"" default:"data" enum:"data" help:"data."`
}

// Run describes the data files that commands read.
func (helpCmd) Run(a *app) error {
	_, err := fmt.Fprint(a.stdout, dataHelp)
	return err
}

const dataHelp = `Data files lie in the folder that --data names. A file that is not there leaves its rows out with a note.

trajectories-*.jsonl (api, eval experience, eval replay)
  Attempts at tasks, one JSON object a line; the attempts of a task need not stand together.
    task_id   text, unique in its domain          domain    text, becomes the task type
    task      text                                attempt   number
    agent     text                                reward    number in [0,1], or null
    success   true, false or null
    steps     list of {tool, args (object), observation, thought?, step_reward?}
  Other fields are not read.

devbench-memories.jsonl, devbench-queries.jsonl (eval retrieval)
  Memories of a software project: id, content, tags (list of text).
  Questions: question, expected_tags (list; a memory that has one of them belongs to the question).

failure-attribution.jsonl (eval experience)
  Dialogues of agents that failed: mistake_agent, mistake_step, history (list of {step, agent, content}).

memories-reme.jsonl (eval experience)
  Lessons about tools: id, library (those of bfcl_v3 are read), scenario, content, keywords, tools.
`

// dataFiles lists the files of --data that a pattern fits, in order of name.
func (a *app) dataFiles(pattern string) ([]string, error) {
	if a.options.Data == "" {
		return nil, nil
	}
	if _, err := os.Stat(a.options.Data); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(a.options.Data, pattern))
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	slices.Sort(files)
	return files, nil
}
