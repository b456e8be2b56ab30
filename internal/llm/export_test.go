package llm

// Listed names the models that this package knows, "provider:model".
func Listed() []string {
	var names []string
	for _, f := range families {
		for model := range f.prices {
			names = append(names, f.provider+":"+model)
		}
	}
	return names
}
