package telemetry

import (
	"net/http"
	"runtime"
	rt "runtime/metrics"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// namespace is the beginning of every metric's name.
const namespace = "manychat_agent"

// Metrics are what Prometheus reads of a process. Every label has a closed set of
// values, so that nothing a contact does makes a new series, and none holds anything of
// a contact. It is safe for concurrent use.
type Metrics struct {
	registry      *prometheus.Registry
	turns         *prometheus.CounterVec
	bindings      *prometheus.CounterVec
	seconds       prometheus.Histogram
	tokens        *prometheus.CounterVec
	dollars       prometheus.Counter
	interventions *prometheus.CounterVec
	inbound       *prometheus.CounterVec
	budget        *prometheus.CounterVec
	token         *prometheus.CounterVec
	nudges        *prometheus.CounterVec
	keyRefused    prometheus.Gauge

	outcomes, paths, changes *names
}

// TurnFact is what the metrics keep of a settled turn.
type TurnFact struct {
	Outcome, Path string        // of internal/conversation
	Nudge         bool          // no request began it
	Bound         bool          // the request carried the contact's token
	Enforced      bool          // an unbound turn reads no history
	Total         time.Duration // from the handler's start to the settled reply
	TokensIn      int64         // cached ones included
	TokensCached  int64
	TokensOut     int64
	CostMicros    int64    // micro-dollars
	Interventions []string // of internal/guardrail and the endpoint
}

// The closed sets of event names. Any other counts as "other".
var (
	inboundEvents = []string{
		"refused_unauthorized", "refused_rate", "refused_body", "body_repaired", "subscriber_id_unrendered",
		"subscriber_id_invalid", "ambiguous_body", "plain_request", "load_shed", "render_failed", "panic",
	}
	budgetEvents = []string{"warned_tokens", "warned_cost", "refused", "waited"}
	tokenEvents  = []string{"issued", "confirmed", "failed", "unknown", "stuck"}
	nudgeEnds    = []string{
		"sent", "skipped", "contact_replied", "escalated", "link_sent", "window_closing", "human_active", "read_failed",
		"cap_reached", "paused", "opted_out",
	}
)

// turnBuckets are seconds, close together where a turn wins or loses its race: the
// deadline is 8 s and at most 8.5 s, a response leaves 0.5 s later, ManyChat gives up at
// 10 s and the model is aborted at 30 s (docs/deadlines.md, "The ten seconds").
var turnBuckets = []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 8.5, 9, 10, 15, 20, 30, 60}

// NewMetrics returns metrics in a registry of their own. The series of closed sets are
// there from the start, at zero.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		turns: counters("turns_total",
			"Settled turns, by outcome and by how the reply left.", "outcome", "path"),
		bindings: counters("turn_bindings_total",
			"Settled turns, by whether the request carried the contact's token and whether that is enforced.", "bound", "enforced"),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "turn_duration_seconds", Buckets: turnBuckets,
			Help: "Time from the start of the request to the settled reply.",
		}),
		tokens: counters("model_tokens_total",
			"Tokens of model calls: input that was not cached, input that was, output.", "kind"),
		dollars: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "model_cost_dollars_total", Help: "Cost of model calls in US dollars.",
		}),
		interventions: counters("interventions_total",
			"What the service did to a message or to a reply, by kind.", "intervention"),
		inbound: counters("inbound_events_total",
			"Requests to the message endpoint that were refused, repaired or failed, by what happened.", "event"),
		budget: counters("budget_events_total",
			"Warnings and refusals of the daily budget of tokens and cost.", "event"),
		token: counters("contact_token_events_total",
			"Steps of contact tokens, from issued to confirmed or not.", "event"),
		nudges: counters("nudges_total",
			"Nudges that were due, by what became of them.", "end"),
		keyRefused: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "manychat_key_refused",
			Help: "1 while ManyChat refuses the API key and deliveries stay queued, else 0.",
		}),
		outcomes: &names{most: 32}, paths: &names{most: 4}, changes: &names{most: 64},
	}
	m.registry.MustRegister(m.turns, m.bindings, m.seconds, m.tokens, m.dollars, m.interventions, m.inbound, m.budget, m.token, m.nudges,
		m.keyRefused)
	m.watchProcess()
	m.startAtZero()
	return m
}

// watchProcess adds what the process itself takes: goroutines, the live heap, and where the
// system tells them, descriptors, resident memory and processor time.
func (m *Metrics) watchProcess() {
	m.registry.MustRegister(
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{Namespace: namespace}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "goroutines", Help: "Goroutines that there are now.",
		}, func() float64 { return float64(runtime.NumGoroutine()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "heap_live_bytes", Help: "Heap that the last collection of garbage found in use.",
		}, liveHeap),
	)
}

func liveHeap() float64 {
	sample := []rt.Sample{{Name: "/gc/heap/live:bytes"}}
	rt.Read(sample)
	return float64(sample[0].Value.Uint64())
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

// startAtZero makes the series whose labels are known, so that a rate over them begins
// before the first event.
func (m *Metrics) startAtZero() {
	for vec, events := range map[*prometheus.CounterVec][]string{m.inbound: inboundEvents, m.budget: budgetEvents, m.token: tokenEvents, m.nudges: nudgeEnds} {
		for _, event := range append(slices.Clone(events), otherLabel) {
			vec.WithLabelValues(event)
		}
	}
	for _, kind := range []string{"input", "cached_input", "output"} {
		m.tokens.WithLabelValues(kind)
	}
	for _, bound := range []string{"true", "false"} {
		for _, enforced := range []string{"true", "false"} {
			m.bindings.WithLabelValues(bound, enforced)
		}
	}
}

// Handler answers with the metrics in the text format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Turn counts a settled turn.
func (m *Metrics) Turn(t TurnFact) {
	m.turns.WithLabelValues(m.outcomes.label(t.Outcome), m.paths.label(t.Path)).Inc()
	if !t.Nudge {
		m.bindings.WithLabelValues(strconv.FormatBool(t.Bound), strconv.FormatBool(t.Enforced)).Inc()
		m.seconds.Observe(max(0, t.Total).Seconds())
	}
	cached := max(0, min(t.TokensCached, t.TokensIn))
	m.tokens.WithLabelValues("input").Add(float64(max(0, t.TokensIn-cached)))
	m.tokens.WithLabelValues("cached_input").Add(float64(cached))
	m.tokens.WithLabelValues("output").Add(float64(max(0, t.TokensOut)))
	m.dollars.Add(float64(max(0, t.CostMicros)) / 1e6)
	for _, intervention := range t.Interventions {
		m.interventions.WithLabelValues(m.changes.label(intervention)).Inc()
	}
}

// Inbound counts what happened to a request: refused_unauthorized, refused_rate,
// refused_body, body_repaired, subscriber_id_unrendered, subscriber_id_invalid,
// plain_request, load_shed, render_failed or panic.
func (m *Metrics) Inbound(event string) { count(m.inbound, inboundEvents, event) }

// Budget counts what the daily budget did: warned_tokens, warned_cost, refused or waited.
func (m *Metrics) Budget(event string) { count(m.budget, budgetEvents, event) }

// Token counts a step of a contact token: issued, confirmed, failed, unknown or stuck.
func (m *Metrics) Token(event string) { count(m.token, tokenEvents, event) }

// Nudge counts how a nudge ended that was due: sent, skipped, or why it was called off.
func (m *Metrics) Nudge(end string) { count(m.nudges, nudgeEnds, end) }

// KeyRefused notes whether ManyChat refuses the API key.
func (m *Metrics) KeyRefused(refused bool) {
	m.keyRefused.Set(0)
	if refused {
		m.keyRefused.Set(1)
	}
}

func count(vec *prometheus.CounterVec, events []string, event string) {
	if !slices.Contains(events, event) {
		event = otherLabel
	}
	vec.WithLabelValues(event).Inc()
}
