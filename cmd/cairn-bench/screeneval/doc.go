// Package screeneval measures what stands between a text and other principals: how much personal data and how many
// instructions the screener finds and how often it is wrong, how much of a recall one poisoning author can take, and what a
// citation costs the state machine.
//
// Personal data counts as found when nine tenths of its labelled span are covered. Poisoned texts are shared by one author
// beside the lessons of other memory systems, which stand for five honest authors; questions are recalled against both by the
// ranking of package recall, with the vectors of the embedded encoder.
package screeneval
