package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// table is the samples as CSV.
func table(samples []sample, figures []figure) []byte {
	out := []byte("seconds")
	for _, f := range figures {
		out = append(out, ","+f.name...)
	}
	out = append(out, '\n')
	for _, s := range samples {
		out = strconv.AppendFloat(out, math.Round(s.at.Seconds()), 'f', -1, 64)
		for _, f := range figures {
			out = strconv.AppendFloat(append(out, ','), math.Round(100*f.of(s))/100, 'f', -1, 64)
		}
		out = append(out, '\n')
	}
	return out
}

// graph is the samples as a picture: one panel below the other over one axis of minutes, each
// from 0, the warm-up shaded and each trend behind it dashed.
type graph struct {
	samples []sample
	warm    time.Duration
	title   string
}

// The picture's measures, in its own units.
const (
	graphWidth, panelHeight = 860, 110
	graphLeft, graphRight   = 70, 20
	graphTop, panelGap      = 50, 34
	graphBottom             = 50
)

// colours are those of a panel's first figure and its second.
var colours = [2]string{"#1d5fa8", "#c2571a"}

func (g graph) draw(figures []figure) []byte {
	panels := 1 + slices.MaxFunc(figures, func(a, b figure) int { return a.panel - b.panel }).panel
	height := graphTop + panels*(panelHeight+panelGap) - panelGap + graphBottom
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", graphWidth, height)
	fmt.Fprintf(&out, `<rect width="100%%" height="100%%" fill="#fff"/><text x="%d" y="20" font-size="15">%s</text>`+"\n", graphLeft, g.title)
	for i := range panels {
		mine := slices.DeleteFunc(slices.Clone(figures), func(f figure) bool { return f.panel != i })
		g.panel(&out, graphTop+i*(panelHeight+panelGap), mine)
	}
	bottom := height - graphBottom
	for _, minute := range g.minutes() {
		fmt.Fprintf(&out, `<text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", g.x(minute), bottom+18, minute)
	}
	fmt.Fprintf(&out, `<text x="%d" y="%d" text-anchor="end">minutes</text>`+"\n</svg>\n", graphWidth-graphRight, bottom+36)
	return out.Bytes()
}

// end is the last moment of the axis.
func (g graph) end() time.Duration { return g.samples[len(g.samples)-1].at }

// minutes are those that the axis names.
func (g graph) minutes() []float64 {
	return slices.DeleteFunc(ticks(g.end().Minutes(), 8), func(m float64) bool { return m > g.end().Minutes() })
}

// x is where a minute stands.
func (g graph) x(minute float64) float64 {
	return graphLeft + minute/g.end().Minutes()*(graphWidth-graphLeft-graphRight)
}

// panel draws the figures of one panel, whose upper edge is at top.
func (g graph) panel(out *bytes.Buffer, top int, figures []figure) {
	most := 0.0
	for _, f := range figures {
		for _, s := range g.samples {
			most = max(most, f.of(s))
		}
	}
	marks := ticks(max(most, 1), 4)
	limit := marks[len(marks)-1]
	y := func(value float64) float64 { return float64(top) + panelHeight*(1-value/limit) }
	fmt.Fprintf(out, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="#eee"/>`+"\n", graphLeft, top, g.x(g.warm.Minutes())-graphLeft, panelHeight)
	for _, mark := range marks {
		fmt.Fprintf(out, `<path d="M%d %.1fH%d" stroke="#ccc"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n",
			graphLeft, y(mark), graphWidth-graphRight, graphLeft-6, y(mark)+4, mark)
	}
	for _, minute := range g.minutes() {
		fmt.Fprintf(out, `<path d="M%.1f %dv%d" stroke="#e4e4e4"/>`+"\n", g.x(minute), top, panelHeight)
	}
	name := graphLeft
	for i, f := range figures {
		var points strings.Builder
		for _, s := range g.samples {
			fmt.Fprintf(&points, "%.1f,%.1f ", g.x(s.at.Minutes()), y(f.of(s)))
		}
		fmt.Fprintf(out, `<polyline fill="none" stroke="%s" stroke-width="1.4" points="%s"/>`+"\n", colours[i], strings.TrimSpace(points.String()))
		line := fit(g.samples, g.warm, f.of)
		last := line.first + line.slope*line.over.Hours()
		fmt.Fprintf(out, `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" stroke-dasharray="6 4" opacity="0.7"/>`+"\n",
			g.x(line.from.Minutes()), y(line.first), g.x((line.from + line.over).Minutes()), y(last), colours[i])
		said := f.name
		if f.steady {
			said = fmt.Sprintf("%s, %+.1f %% behind the warm-up", f.name, 100*line.growth())
		}
		fmt.Fprintf(out, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", name, top-6, colours[i], said)
		name += (graphWidth - graphLeft - graphRight) / 2
	}
}

// ticks are round numbers from 0 to the first that is not below most, about n of them.
func ticks(most float64, n int) (all []float64) {
	step := math.Pow(10, math.Floor(math.Log10(most/float64(n))))
	for _, by := range []float64{1, 2, 5, 10} {
		if step*by*float64(n) >= most {
			step *= by
			break
		}
	}
	for i := 0.0; ; i++ {
		all = append(all, i*step)
		if i*step >= most {
			return all
		}
	}
}
