package app_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// BenchmarkTurn is a whole turn over HTTP on SQLite, each of a new contact, with a
// model that answers at once: docs/spec/17-quality.md, "Performance". It reports the
// 50th and 99th percentile of the time a caller waits, in milliseconds.
func BenchmarkTurn(b *testing.B) {
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) { benchmarkTurn(b, clients) })
	}
}

func benchmarkTurn(b *testing.B, clients int) {
	url := serveForBenchmark(b)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for range clients {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
				start := time.Now()
				body := fmt.Appendf(nil, `{"subscriber_id":"%d","text":"how much is the wheel course?"}`, 1_000_000_000+i)
				req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer invented-benchmark-secret")
				resp, err := client.Do(req)
				if err != nil {
					b.Error(err)
					return
				}
				answer, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !bytes.Contains(answer, []byte("240 EUR")) {
					b.Errorf("answer is %s, %v", answer, err)
					return
				}
				took[i] = time.Since(start)
			}
		})
	}
	all.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

// serveForBenchmark starts a service on the loopback and returns its message endpoint.
func serveForBenchmark(b *testing.B) string {
	b.Helper()
	c, err := config.Load(config.Source{Mode: config.Serve, Environ: []string{
		"DATABASE_URL=sqlite:" + filepath.Join(b.TempDir(), "agent.db"), "AGENT_MODEL=mock:demo", "CALLBACK=off",
		"MANYCHAT_SHARED_SECRET=invented-benchmark-secret", "MANYCHAT_API_TOKEN=1:invented", "MANYCHAT_REPLY_FLOW_NS=content1",
	}})
	if err != nil {
		b.Fatal(err)
	}
	business, err := tenant.Load(demo.FS(), tenant.Options{ID: c.Tenant.ID})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	service, err := app.New(ctx, app.Options{Config: c, Tenant: business, Models: []attempt.Model{{Name: "mock:demo", Model: mock.New()}}, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	mux := http.NewServeMux()
	service.Register(mux)
	served := make(chan error, 1)
	go func() { served <- service.Serve(ctx, app.Front{Listener: ln, Handler: mux}) }()
	b.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			b.Error(err)
		}
		if err := service.Close(); err != nil {
			b.Error(err)
		}
	})
	return app.MessageURL("http://" + ln.Addr().String())
}
