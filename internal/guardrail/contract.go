package guardrail

// contract hands off a reply that breaks the reply contract, or of which nothing would go
// out.
func contract(d *draft) finding {
	if d.reply.Validate() != nil || !d.reply.Escalate && len(d.messages) == 0 {
		return broken()
	}
	return finding{}
}
