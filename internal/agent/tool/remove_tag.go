package tool

import (
	_ "embed" // the description

	"github.com/manychat-agent/manychat-agent/internal/action"
)

//go:embed remove_tag.md
var removeTagText string

func (d *Desk) removeTag() *offered { return d.tagTool(action.RemoveTag, removeTagText) }
