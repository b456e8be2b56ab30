package process

// TurnPath are the queries of heartbeats and sweeps.
var TurnPath = map[string]string{
	"beatProcess":      beatProcess,
	"deleteProcess":    deleteProcess,
	"selectBeats":      selectBeats,
	"selectOwned":      selectOwned,
	"selectTurnOwners": selectTurnOwners,
	"selectRowOwners":  selectRowOwners,
	"selectAnyUnowned": selectAnyUnowned,
	"handBackTurns":    handBackTurns,
	"requeueOf":        requeueOf,
}
