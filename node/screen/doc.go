// Package screen looks for what must not leave an agent's pool: secrets, personal data, text that gives orders to the
// reader's model, and characters that hide. It works by rules on one text at a time, has no state and is safe for
// concurrent use. It lowers a risk; it does not remove it.
package screen
