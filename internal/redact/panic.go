package redact

import (
	"fmt"
	"runtime"
)

// Panic is what may be said of a recovered panic value: the runtime's own words, which
// quote nobody, and of any other value only its type.
func Panic(v any) (said string) {
	unknown := fmt.Sprintf("a value of type %T", v)
	err, ok := v.(runtime.Error)
	if !ok {
		return unknown
	}
	defer func() {
		if recover() != nil {
			said = unknown
		}
	}()
	return Text(err.Error())
}
