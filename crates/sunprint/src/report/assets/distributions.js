// Distributions of one column: small in a list, large below it. Real is an outline, synthetic is filled.

/** The share of every bar, and where it stands. Categories stand side by side as bars of width 1. */
function barsOf(bars, categories) {
  if (bars) {
    return bars.synthetic.map((share, i) => ({
      low: bars.edges[i],
      high: bars.edges[i + 1],
      synthetic: share,
      real: bars.real ? bars.real[i] : null,
      words: spelt(bars.edges[i], bars.scale) + " to " + spelt(bars.edges[i + 1], bars.scale),
    }));
  }
  return categories.map((category, i) => ({
    low: i,
    high: i + 1,
    synthetic: category.synthetic,
    real: category.real,
    words: isolated(category.value),
  }));
}

/** A place on the line as Plot wants it. */
function placed(value, scale) {
  if (scale === "date") return new Date(value * 86400000);
  if (scale === "datetime") return new Date(value * 1000);
  return value;
}

/** The upper edge of all bars in one line, from the floor back to it. */
function outline(rows, scale) {
  const points = [];
  rows.forEach((row) => points.push([row.low, row.real], [row.high, row.real]));
  if (rows.length) {
    points.unshift([rows[0].low, 0]);
    points.push([rows[rows.length - 1].high, 0]);
  }
  return points.map(([x, y]) => [placed(x, scale), y]);
}

function tipOf(row) {
  const real = isNumber(row.real) ? "\nreal " + percent(row.real) + "\nsynthetic " : "\nrelease ";
  return row.words + real + percent(row.synthetic);
}

/** A picture of a distribution along a line. */
function distribution(width, bars, categories, large) {
  const rows = barsOf(bars, categories);
  const scale = bars ? bars.scale : "categories";
  const top = Math.max(...rows.map((row) => Math.max(row.synthetic || 0, row.real || 0)), 1e-9);
  const hasReal = rows.some((row) => isNumber(row.real));
  const middle = (row) => placed(scale === "log" ? Math.sqrt(row.low * row.high) : (row.low + row.high) / 2, scale);
  const time = scale === "date" || scale === "datetime";
  const ends = rows.length ? [placed(rows[0].low, scale), placed(rows[rows.length - 1].high, scale)] : [0, 1];
  const x = {
    domain: ends,
    type: time ? "utc" : scale === "log" ? "log" : "linear",
    label: null,
    tickSize: 3,
    insetLeft: 1,
    insetRight: 1,
  };
  if (scale === "categories" || !large) x.axis = null;
  else if (!time)
    Object.assign(x, { ticks: Math.max(3, Math.floor(width / 90)), tickFormat: scale === "log" ? undefined : figure });
  const marks = [
    Plot.rectY(rows, {
      x1: (row) => placed(row.low, scale),
      x2: (row) => placed(row.high, scale),
      y: "synthetic",
      fill: "var(--synthetic)",
      fillOpacity: hasReal ? 0.5 : 0.75,
      inset: scale === "categories" || large ? 0.5 : 0,
    }),
    Plot.ruleY([0], { stroke: "var(--line)" }),
  ];
  if (!large && scale !== "categories" && rows.length) {
    const end = (value, frameAnchor) =>
      Plot.text([speltShort(value, scale)], { text: Plot.identity, frameAnchor, dy: 13, fill: "currentColor" });
    marks.push(end(rows[0].low, "bottom-left"), end(rows[rows.length - 1].high, "bottom-right"));
  }
  if (hasReal) marks.push(Plot.line(outline(rows, scale), { stroke: "var(--real)", strokeWidth: large ? 1.8 : 1.4 }));
  marks.push(
    Plot.tip(
      rows,
      Plot.pointerX({
        x: middle,
        y: (row) => Math.max(row.synthetic || 0, row.real || 0),
        title: tipOf,
        anchor: "bottom",
      }),
    ),
  );
  return plotted({
    width,
    height: large ? 240 : scale === "categories" ? 56 : 72,
    marginLeft: large ? 52 : 8,
    marginRight: 8,
    marginTop: large ? 24 : 6,
    marginBottom: large && scale !== "categories" ? 30 : scale === "categories" ? 4 : 22,
    x,
    y: large
      ? { domain: [0, top * 1.05], label: "share of rows", tickFormat: percent, ticks: 4 }
      : { domain: [0, top * 1.05], axis: null },
    marks,
  });
}

/** Categories as horizontal bars with their names, largest first; what is beyond the first is counted. */
const MOST_CATEGORIES = 20;

function categoryBars(width, categories) {
  const rows = categories
    .slice()
    .sort((a, b) => Math.max(b.real || 0, b.synthetic) - Math.max(a.real || 0, a.synthetic))
    .slice(0, MOST_CATEGORIES)
    .map((row, i) => ({ ...row, place: i }));
  const narrow = width < 520;
  const label = (place) => shortened(rows[place].value, narrow ? 14 : 28);
  const hasReal = rows.some((row) => isNumber(row.real));
  return plotted({
    width,
    height: rows.length * 26 + 60,
    marginTop: 12,
    marginBottom: 40,
    marginLeft: narrow ? 110 : 200,
    marginRight: 20,
    x: {
      label: "share of rows",
      tickFormat: percent,
      ticks: narrow ? 3 : 6,
      domain: [0, Math.max(...rows.map((row) => Math.max(row.real || 0, row.synthetic)), 1e-9) * 1.05],
    },
    y: { domain: rows.map((row) => row.place), label: null, tickSize: 0, tickFormat: label },
    marks: [
      Plot.barX(rows, {
        x: "synthetic",
        y: "place",
        fill: "var(--synthetic)",
        fillOpacity: 0.5,
        insetTop: 3,
        insetBottom: 3,
      }),
      hasReal
        ? Plot.barX(rows, {
            x: "real",
            y: "place",
            fill: "none",
            stroke: "var(--real)",
            strokeWidth: 1.6,
            insetTop: 3,
            insetBottom: 3,
          })
        : null,
      Plot.ruleX([0], { stroke: "var(--line)" }),
      Plot.tip(
        rows,
        Plot.pointerY({
          x: (row) => Math.max(row.real || 0, row.synthetic),
          y: "place",
          title: (row) => tipOf({ ...row, words: isolated(row.value) }),
        }),
      ),
    ],
  });
}

/** What a distribution looks like, for whoever hears it. */
function spoken(name, bars, categories) {
  const rows = barsOf(bars, categories);
  if (!rows.length) return "Distribution of " + isolated(name);
  const largest = (key) => rows.reduce((best, row) => ((row[key] || 0) > (best[key] || 0) ? row : best));
  const top = largest("synthetic");
  const real = rows.some((row) => isNumber(row.real))
    ? "; of real ones " + largest("real").words + ", " + percent(largest("real").real)
    : "";
  return (
    "Distribution of " +
    isolated(name) +
    ": most synthetic rows are at " +
    top.words +
    ", " +
    percent(top.synthetic) +
    real +
    "."
  );
}

function smallDistribution(name, bars, categories) {
  return chart(spoken(name, bars, categories), bars ? 72 : 56, (width) => distribution(width, bars, categories, false));
}

function largeDistribution(name, bars, categories) {
  const label = spoken(name, bars, categories);
  if (bars) return chart(label, 240, (width) => distribution(width, bars, categories, true));
  const more = categories.length - MOST_CATEGORIES;
  return el(
    "div",
    {},
    chart(label, Math.min(categories.length, MOST_CATEGORIES) * 26 + 60, (width) => categoryBars(width, categories)),
    more > 0 ? el("p", { class: "aside" }, count(more) + " rarer categories are not drawn.") : null,
  );
}
