package guardrail_test
import ("testing";"strings";"time";"fmt";"github.com/manychat-agent/manychat-agent/internal/guardrail")
func TestZZ(t *testing.T) {
	for _, x := range []string{"a.","a.me@","www.) ","a.com@b ","a://)", "[a.](https://x)com","a.b.me@x","@a.me"} {
		for _, n := range []int{1000,4000} {
		s:=time.Now(); guard().Apply(guardrail.Input{Tenant: school(), Reply: says(strings.Repeat(x, n))}); fmt.Println(x, n, time.Since(s)) }
	}
}
