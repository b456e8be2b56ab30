package prompt

import (
	"fmt"
	"strings"
	"time"
)

// followUpNotice begins the server's note in place of a message; the mock model reads it.
const followUpNotice = "FOLLOW-UP: "

// planned is what the note says behind it. It names no trade, and lets the model say no.
const planned = `you planned to write once more if they did not, and this is that message; nothing was written to you now. Write one short message, in the language of the conversation so far, that takes up what was left open between you and makes it easy to answer. Do not repeat an earlier message of yours, do not press or apologise, and do not say that this is a reminder or was planned. Call a tool only for what this one message needs. When nothing is left open, or the person said no, asked not to be written to or waits for somebody else, set escalate: then nothing is sent, and nobody is told.`

// followUp stands where the message to answer stands on other turns, outside of the fence: the
// contact has been quiet for a while.
func followUp(quiet time.Duration) string {
	return followUpNotice + "the person has not written for " + lasted(quiet) + ". Earlier " + planned
}

// lasted is a duration in words, in whole minutes.
func lasted(d time.Duration) string {
	minutes := int(d / time.Minute)
	var parts []string
	for _, p := range []struct {
		n    int
		unit string
	}{{minutes / 60, "hour"}, {minutes % 60, "minute"}} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.unit)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.unit))
		}
	}
	if len(parts) == 0 {
		return "a moment"
	}
	return strings.Join(parts, " and ")
}
