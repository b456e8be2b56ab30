package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// killsOf is how many processes the tests of several kill: KILLS=200 plays a long run.
func killsOf(t *testing.T, usual int) int {
	t.Helper()
	asked := os.Getenv("KILLS")
	if asked == "" {
		return usual
	}
	n, err := strconv.Atoi(asked)
	if err != nil {
		t.Fatalf("KILLS=%s is no number: %v", asked, err)
	}
	return n
}

// cluster is two serve and two worker on one PostgreSQL database, behind one address.
type cluster struct {
	*deployment
	front *front
	dice  *rand.Rand
	env   []string
	ports []string
	runs  [4]*process // two serve, two worker
}

func newCluster(t *testing.T, database string) *cluster {
	t.Helper()
	c := &cluster{deployment: newDeployment(t), front: &front{}}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c.dice = rand.New(rand.NewPCG(seed, 0))
	// The address of the deployment is the front's; each serve has a port of its own.
	server := httptest.NewUnstartedServer(c.front)
	listener, err := net.Listen("tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	for _, variable := range c.deployment.env {
		if !strings.HasPrefix(variable, "PORT=") {
			c.env = append(c.env, variable)
		}
	}
	c.env = append(c.env, "DATABASE_URL="+database, "PROCESS_LEASE_MS=2000", "SHUTDOWN_GRACE_MS=3000")
	for range 2 {
		free := httptest.NewServer(nil)
		c.ports = append(c.ports, free.URL[strings.LastIndex(free.URL, ":")+1:])
		free.Close()
	}
	for i := range c.runs {
		c.start(i)
	}
	c.ready(0)
	c.ready(1)
	return c
}

// start starts a process again.
func (c *cluster) start(i int) {
	c.t.Helper()
	if i < 2 {
		c.runs[i] = run(c.t, start{folder: c.folder, env: append(c.env, "PORT="+c.ports[i]), args: []string{"serve", "--no-worker"}})
		c.front.set(i, "http://127.0.0.1:"+c.ports[i])
		return
	}
	c.runs[i] = run(c.t, start{folder: c.folder, env: append(c.env, "PORT=0"), args: []string{"worker"}})
}

// ready waits until a serve is.
func (c *cluster) ready(i int) {
	c.t.Helper()
	err := eventually(func() error {
		resp, err := c.runs[i].http.Get("http://127.0.0.1:" + c.ports[i] + "/ready")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %s", resp.Status)
		}
		return nil
	})
	if err != nil {
		c.t.Fatalf("serve is not ready: %v\n%s", err, c.runs[i].log.String())
	}
}

// load lets every contact write until the test says that it is enough.
func (d *deployment) load() (enough func()) {
	done := make(chan struct{})
	var writing sync.WaitGroup
	for id, offering := range offerings {
		writing.Go(func() {
			for people := 2; ; people++ {
				select {
				case <-done:
					return
				case <-time.After(writesEvery):
					d.write(id, fmt.Sprintf("how much is the %s for %d people?", offering, people))
				}
			}
		})
	}
	return sync.OnceFunc(func() {
		close(done)
		writing.Wait()
	})
}

// events waits until so many more requests have begun or ended at ManyChat.
func (d *deployment) events(n int) {
	d.t.Helper()
	select {
	case <-d.after(n):
	case <-time.After(longest):
		d.t.Fatal("nothing happens any more")
	}
}

// settled asserts, as [deployment.check] does, over what several processes did.
func (d *deployment) settled() {
	d.t.Helper()
	for id, offering := range offerings {
		err := eventually(func() error {
			recorded, err := recent(d.url, consoleKey, id)
			if err != nil {
				return err
			}
			return over(recorded)
		})
		if err != nil {
			d.t.Errorf("%s: %v", id, err)
			continue
		}
		d.check(id, offering)
	}
}

// writesEvery is the pause of a contact between two messages.
const writesEvery = 100 * time.Millisecond

// longest is how long anything of these tests may take.
const longest = 2 * time.Minute

// eventually asks until the answer is yes.
func eventually(ask func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-again.C:
		}
	}
}

// Holds docs/spec/17-quality.md, "Reliability": two serve and two worker on one database are
// killed one after the other under load. No accepted message stays unanswered, and no text is
// shown to another contact.
func TestSeveralKilled(t *testing.T) {
	for n := killsOf(t, killsAtOnce); n > 0; n -= killsAtOnce {
		t.Run(fmt.Sprint(n, " to go"), func(t *testing.T) {
			c := newCluster(t, postgrestest.Open(t))
			enough := c.load()
			for range killsAtOnce {
				c.events(5 + c.dice.IntN(40))
				i := c.dice.IntN(len(c.runs))
				c.runs[i].kill()
				c.start(i)
				if i < 2 {
					c.ready(i)
				}
			}
			enough()
			c.settled()
		})
	}
}

// killsAtOnce is how many kills one deployment lives through: the console tells of the last
// hundred turns of a contact.
const killsAtOnce = 5

// Holds docs/spec/03-turn.md, "Crash recovery", Shutdown: processes that are told to stop under load end
// within their grace and hand back what is unfinished.
func TestSeveralTerminated(t *testing.T) {
	c := newCluster(t, postgrestest.Open(t))
	enough := c.load()
	for i := range c.runs {
		c.events(5 + c.dice.IntN(40))
		c.runs[i].signal(syscall.SIGTERM)
		if err := c.runs[i].ended(); err != nil {
			t.Errorf("process %d ended: %v\n%s", i, err, c.runs[i].log.String())
		}
		c.start(i)
		if i < 2 {
			c.ready(i)
		}
	}
	enough()
	c.settled()
}

// handedOff are the messages that were answered without being recorded: nothing else could be
// done without a database.
func (d *deployment) handedOff() {
	d.t.Helper()
	for id := range offerings {
		recorded, err := recent(d.url, consoleKey, id)
		if err != nil {
			d.t.Fatal(err)
		}
		copies := d.copies(id)
		if d.accepted[id] > len(recorded)+copies {
			d.t.Errorf("%s got %d responses, to %d recorded messages and %d that were handed off", id, d.accepted[id], len(recorded), copies)
		}
	}
	clear(d.accepted)
}

// copies are the handoffs that a contact was shown.
func (d *deployment) copies(id string) (n int) {
	for _, item := range d.at.Chat(id) {
		n += strings.Count(item.Text, escalation)
	}
	return n
}

// Holds docs/spec/17-quality.md, "Reliability": the database goes away for up to two seconds
// again and again under load, in the middle of whatever it was asked.
func TestSeveralWithoutTheirDatabase(t *testing.T) {
	database, err := url.Parse(postgrestest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	line := newLine(t, database.Host)
	database.Host = line.address()
	newCluster(t, database.String()).outages(line.cut, line.mend)
}

// Holds docs/spec/17-quality.md, "Reliability": PostgreSQL is restarted under load, in order and
// as if it had crashed.
func TestSeveralWhosePostgreSQLRestarts(t *testing.T) {
	for _, how := range []postgrestest.Shutdown{postgrestest.Fast, postgrestest.Immediate} {
		t.Run(string(how), func(t *testing.T) {
			server := postgrestest.Own(t)
			newCluster(t, server.URL()).outages(func() { server.Stop(how) }, server.Start)
		})
	}
}

// outagesAtOnce is how often the database goes away from one deployment.
const outagesAtOnce = 4

// outages takes the database away for up to two seconds, a few times under load.
func (c *cluster) outages(begin, end func()) {
	c.t.Helper()
	enough := c.load()
	for range outagesAtOnce {
		c.events(5 + c.dice.IntN(40))
		begin()
		after(time.Duration(c.dice.IntN(2000)) * time.Millisecond)
		end()
		c.ready(0)
		c.ready(1)
	}
	enough()
	c.handedOff()
	c.settled()
	// A contact has one reply on its way at a time, whose note an outage may cost.
	for id, offering := range offerings {
		again := c.repeated(id, offering)
		c.t.Logf("%s was shown %d answers again", id, again)
		if again > outagesAtOnce {
			c.t.Errorf("%s was shown %d answers again, in %d outages", id, again, outagesAtOnce)
		}
	}
}

// repeated is how many answers about its offering a contact was shown more often than they
// were given.
func (d *deployment) repeated(id, offering string) (again int) {
	d.t.Helper()
	about := func(text string) int { return strings.Count(strings.ToLower(text), offering) }
	recorded, err := recent(d.url, consoleKey, id)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, turn := range recorded {
		again -= about(strings.Join(turn.Replies, "\n"))
	}
	for _, item := range d.at.Chat(id) {
		if item.From != phone.FromContact {
			again += about(item.Text)
		}
	}
	return again
}

// after waits on the real clock: the processes have no other.
func after(d time.Duration) { <-time.After(d) }

// over reports what of a contact's turns is not over.
func over(recorded []recordedTurn) error {
	for _, turn := range recorded {
		if turn.State != "settled" && turn.State != "merged" {
			return fmt.Errorf("turn %s is %s", turn.ID, turn.State)
		}
		for _, status := range turn.Deliveries {
			if status != "delivered" {
				return fmt.Errorf("a reply of turn %s is %s", turn.ID, status)
			}
		}
	}
	return nil
}

// front is what ManyChat reaches: it passes each request to one of the serve.
type front struct {
	mu   sync.Mutex
	to   [2]string
	next int
}

func (f *front) set(i int, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to[i] = to
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.next++
	to, err := url.Parse(f.to[f.next%len(f.to)])
	f.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	passed := httputil.NewSingleHostReverseProxy(to)
	passed.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
	passed.ServeHTTP(w, r)
}

// line is the network to a database, which can be cut.
type line struct {
	to       string
	listener net.Listener

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{to: to, listener: listener, conns: map[net.Conn]bool{}}
	go l.serve()
	t.Cleanup(func() {
		_ = listener.Close()
		l.cut()
	})
	return l
}

func (l *line) address() string { return l.listener.Addr().String() }

func (l *line) serve() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.pass(conn)
	}
}

func (l *line) pass(conn net.Conn) {
	defer conn.Close()
	if !l.keep(conn) {
		return
	}
	defer l.forget(conn)
	database, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer database.Close()
	go func() {
		_, _ = io.Copy(database, conn)
		_ = database.Close()
	}()
	_, _ = io.Copy(conn, database)
}

func (l *line) keep(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return false
	}
	l.conns[conn] = true
	return true
}

func (l *line) forget(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, conn)
}

// cut ends every connection and takes no new one.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	for conn := range l.conns {
		_ = conn.Close()
	}
}

// mend takes connections again.
func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}
