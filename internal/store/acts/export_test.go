package acts

// TurnPath are the queries of a turn and of the worker.
var TurnPath = map[string]string{
	"settleActed": settleActed, "noteRecord": noteRecord, "claimFlow": claimFlow, "restoreFlow": restoreFlow,
	"deleteFlow": deleteFlow, "selectContact": selectContact, "selectHeld": selectHeld, "selectSent": selectSent, "lockRecord": lockRecord, "updateRecord": updateRecord,
	"updatePayload": updatePayload, "selectSale": selectSale, "updateSale": updateSale, "closeOpening": closeOpening, "selectNamed": selectNamed, "selectAwaited": selectAwaited,
}
