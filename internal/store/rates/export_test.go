package rates

// Queries are those of this package.
var Queries = map[string]string{"lease": lease}
