# What is done to this repository, one target each. `make help` prints the list.

FUZZTIME  ?= 30s
BENCHTIME ?= 1s
CHECKS    ?= 1000

export GOFLAGS ?= -mod=readonly

# Property tests draw the same cases every time, so that a check says something about the change at hand.
# `make properties` draws others.
export RAPID_SEED ?= 1

staticcheck = go tool -modfile=tools/go.mod staticcheck

# Scenarios of hours or many minutes of fake clock. `make test` runs them; under the race detector they take
# many minutes and walk the same code as their shorter neighbours.
hours = ^Test(TokenWritesThatFail|TurnCap|OtherChannelsUnbindNobody|TokensOfUnboundRequests|OldTokensAreForgotten|RepairedBodies|HourlyLimit|ConversationsOnThePhone|TokensOfUnknownOutcome|FullContactData|HistoryFromBeforeTokens|ToolsFaultsOfActions|ToolsFaultsKeepTheOrder|ToolsFaultsOfFlows|ToolsFaultsOfReads|ToolsKeepTheirSecrets|ToolsOfHandoffs|NoticeOfEveryHandoff|NoticeWithinQuietMinutes|HandoffNotice|RepliesDoNotWaitForActions|ActionsTakeNoRoomOfReplies|RefusedKeyStopsTheWorker|HeadThatTellsNothing|FlowLimitOfAContact|RefusedKey|Random|RandomPair|Simulation)$$

# Tables of whole conversations: what runs in them at once runs in their neighbours too.
tables = ^Test(ModelFailuresCostOneHandoff|LateReplyUnderFaults|ModelThatObeys|ToolsFollowTheText|EveryHandoffOfTheGuardrails|FallbackAnswers|EveryHandoffOfTheContract|CallbackOfEveryAnswer|WhatTheGuardrailsMend|ModelMisbehaves|InjectionStaysInTheFences|DailyBudget|TokenWritesThatLie|LongAndManyMessages|ToolsAreEnumsOfTheFile|ToolsOfTurnsWithoutAModel|NoticeOfNone|RetryAfter|ToolsInTheHistory|EveryHandoffOfTheProvider|UnsaidHandoffIsSaid|EveryProvider|ThreeRepliesInEveryOrder|GuardsOfMergedMessages|ToolsFaultsOfCarriedActions|PostgreSQLQueryPlans|RulesOfASale|SeveralKilled|SeveralTerminated|SeveralWithoutTheirDatabase|SeveralWhosePostgreSQLRestarts|Soak)$$

.DEFAULT_GOAL := help
SEEDS ?= 200
SOAK  ?= 30m

.PHONY: help dev build test sim properties race browser lint tidy-check generate generate-check check bench figures soak fuzz

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dev: ## Run the service, an emulated ManyChat and a phone page on 127.0.0.1
	go run ./cmd/manychat-agent dev

build: ## Build the static binary bin/manychat-agent
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/manychat-agent ./cmd/manychat-agent

test: ## Run every test that needs nothing but Go, and a PostgreSQL where one answers
	go test ./...

sim: ## Simulate the whole service: SEED=7 replays one with its trace, SEEDS=200 plays many, FROM=1000 others
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && go test -c -o "$$dir/sim" ./internal/simtest && cd internal/simtest && \
	if [ -n "$(SEED)" ]; then "$$dir/sim" -test.run='^TestSimulation$$' -test.v -seed=$(SEED); exit; fi; \
	n=$$(getconf _NPROCESSORS_ONLN); for i in $$(seq $$n); do \
		"$$dir/sim" -test.run='^TestSimulation$$' -test.timeout=2h -from=$(or $(FROM),0) -seeds=$(SEEDS) -shards=$$n -shard=$$((i-1)) >"$$dir/$$i" 2>&1 & pids="$$pids $$!"; \
	done; bad=0; for p in $$pids; do wait $$p || bad=1; done; cat "$$dir"/[0-9]*; exit $$bad

properties: ## Run the property tests with CHECKS=1000 cases that no run has drawn before
	@RAPID_SEED=0 RAPID_CHECKS=$(CHECKS) go test -count=1 $$(grep -rl --include='*_test.go' 'pgregory.net/rapid"' . | xargs -n1 dirname | sort -u)

# SQLite's own code, translated from C, is not watched: its memory is not Go's, and it locks by functions
# that are watched. Watching it makes every test of the store two to three times as slow.
race: ## Run them with the race detector, in random order (needs a C compiler)
	CGO_ENABLED=1 go test -race -gcflags='modernc.org/sqlite/lib=-race=false' -shuffle=on -timeout=15m -skip='$(hours)|$(tables)' ./...

browser: ## Run the page tests in Chromium
	@dirs=$$(grep -rl --include='*_test.go' '^//go:build browser' . | xargs -r -n1 dirname | sort -u); \
	test -n "$$dirs" || { echo 'no package has browser tests' >&2; exit 1; }; \
	echo "go test -tags=browser -run=Browser" $$dirs; \
	go test -tags=browser -run=Browser $$dirs

lint: ## Check format, vet and staticcheck
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not gofmt-ed:" $$unformatted >&2; exit 1; }
	go vet -tags=browser ./...
	$(staticcheck) -tags=browser ./...

tidy-check: ## Check that go.mod and go.sum are what the code needs
	go mod tidy -diff
	go -C tools mod tidy -diff

generate: ## Write the editor schemas of the configuration files from their types
	go run ./cmd/manychat-agent config schema --dir config/schema

generate-check: ## Check that the committed editor schemas are those of the types
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	go run ./cmd/manychat-agent config schema --dir "$$dir" && diff -ru config/schema "$$dir"

check: lint tidy-check generate-check race ## Everything a change must pass

bench: ## Run the benchmarks; BENCHTIME=1s
	go test -run='^$$' -bench=. -benchmem -benchtime=$(BENCHTIME) ./...

figures: ## Measure cold start, start to ready, size and memory (docs/benchmarks.md)
	@.ci/figures

soak: ## Let a serve take half of what it can for SOAK=30m, into docs/images/soak.svg and soak.csv (Linux)
	SOAK=$(SOAK) SOAK_TO=$(CURDIR)/docs/images go test -count=1 -v -timeout=0 -run='^TestSoak$$' ./cmd/manychat-agent

fuzz: ## Run every fuzz target; FUZZTIME=30s each
	@grep -r --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' . | while IFS=: read -r file func; do \
		target=$${func#func }; echo "== $$target in $$(dirname $$file)"; \
		go test -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=20x "$$(dirname $$file)" || exit 1; \
	done
