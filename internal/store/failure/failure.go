// Package failure is what databases of both kinds say when something is wrong with them:
// the sentences that mean the same in either, and how a sentence is put in front of a
// database's own error.
package failure

import (
	"errors"
	"fmt"
)

// Errors of any database, each a sentence that says what to do.
var (
	ErrDiskFull   = errors.New("the disk that holds the database is full; free some space")
	ErrConstraint = errors.New("the values break a rule of the database, which is a defect of this program; please report it")
)

// Explain puts a sentence in front of a database's error. Without one, and when the error
// says it already, it passes unchanged.
func Explain(sentence, err error) error {
	if sentence == nil || errors.Is(err, sentence) {
		return err
	}
	return fmt.Errorf("%w: %w", sentence, err)
}
