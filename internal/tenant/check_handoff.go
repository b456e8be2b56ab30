package tenant

// handoff checks that the notice of an escalation can be given, and that nothing the agent
// does of itself gives it, repeats it or takes it back.
func (c check) handoff(h *Handoff, t *Tools, o Options) {
	if h.Webhook != "" && o.NoWebhookSecret {
		c.report("/handoff/webhook", "an address and no HANDOFF_WEBHOOK_SECRET", "a secret that its notices are signed with",
			"set HANDOFF_WEBHOOK_SECRET in .env or in the environment, which are read at the start; openssl rand -hex 32 makes one")
	}
	if h.FlowNs != "" && sameFlow(h.FlowNs, o.ReplyFlowNs) {
		c.report("/handoff/flowNs", "the flow of MANYCHAT_REPLY_FLOW_NS", "another flow", "it would send the last reply again")
	}
	if t == nil {
		return
	}
	for _, f := range t.Flows {
		if sameFlow(f.FlowNs, h.FlowNs) {
			c.report("/handoff/flowNs", "the flow of "+f.ID+" in "+ToolsFile, "a flow that the agent cannot send", "the contact would get it twice")
		}
	}
	for _, tag := range t.Tags {
		if sameTag(tag.Tag, h.Tag) {
			c.report("/handoff/tag", "the tag of "+tag.ID+" in "+ToolsFile, "a tag that the agent cannot set", "it would call people, and send them away, without handing over")
		}
	}
}
