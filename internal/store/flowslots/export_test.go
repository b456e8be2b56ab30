package flowslots

// Queries are those of this package.
var Queries = map[string]string{"countFlow": countFlow, "selectSlots": selectSlots, "deleteOld": deleteOld, "giveBack": giveBack}
