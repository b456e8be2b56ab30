package ledger

// Queries are the SQL texts of the package.
var Queries = map[string]string{
	"lockDay":      lockDay,
	"updateDay":    updateDay,
	"selectLease":  selectLease,
	"putLease":     putLease,
	"selectLeases": selectLeases,
	"deleteLease":  deleteLease,
}
