// Columns one by one: a list with small distributions; a larger one opens below a row.

function errorOf(one) {
  return one ? Math.abs(one.error) : -Infinity;
}

/** Both tables' number and the error below. */
function both(one, form) {
  return one
    ? [el("span", { class: "pair" }, form(one.real) + " → " + form(one.synthetic)), el("small", {}, signed(one.error))]
    : "–";
}

function scaleOf(column) {
  return column.bars ? column.bars.scale : "number";
}

function columnDetail(column) {
  const scale = scaleOf(column);
  const known = [["W1, in widths", figure(column.w1)]];
  if (column.w1_own) known.push(["W1, in its own unit", span(column.w1_own, scale)]);
  if (isNumber(column.variation)) known.push(["Total variation", figure(column.variation)]);
  if (column.mean)
    known.push([
      "Mean",
      spelt(column.mean.real, scale) + " real, " + spelt(column.mean.synthetic, scale) + " synthetic",
    ]);
  if (column.deviation)
    known.push([
      "Standard deviation",
      span(column.deviation.real, scale) + " real, " + span(column.deviation.synthetic, scale) + " synthetic",
    ]);
  if (column.missing)
    known.push([
      "Missing",
      percent(column.missing.real) + " real, " + percent(column.missing.synthetic) + " synthetic",
    ]);
  if (column.constant_real) known.push(["Note", "All real values are the same."]);
  if (column.constant_synthetic) known.push(["Note", "All synthetic values are the same."]);
  const pictured = column.bars || column.categories.length;
  return el(
    "div",
    { class: "opened" },
    pictured ? largeDistribution(column.name, column.bars, column.categories) : null,
    facts(known),
  );
}

function drawColumns(place) {
  place.append(
    legend(false),
    list({
      caption: "Columns; errors in units of the widths",
      search: "Search columns by name",
      rows: page.columns.columns,
      text: (column) => column.name,
      detail: columnDetail,
      columns: [
        {
          words: "Column",
          by: (column) => column.name,
          cell: (column) => named(column.name),
          below: (column) => el("small", {}, column.kind),
        },
        {
          words: "Distribution",
          class: "picture",
          cell: (column) =>
            column.bars || column.categories.length
              ? smallDistribution(column.name, column.bars, column.categories)
              : "–",
        },
        {
          words: "W1",
          number: true,
          sorted: "descending",
          by: (column) => column.w1,
          cell: (column) => figure(column.w1),
        },
        {
          words: "Mean",
          number: true,
          by: (column) => errorOf(column.mean),
          cell: (column) => both(column.mean, (value) => speltShort(value, scaleOf(column))),
        },
        {
          words: "Deviation",
          number: true,
          by: (column) => errorOf(column.deviation),
          cell: (column) => both(column.deviation, (value) => span(value, scaleOf(column))),
        },
        {
          words: "Missing",
          number: true,
          by: (column) => errorOf(column.missing),
          cell: (column) =>
            column.missing ? percent(column.missing.real) + " → " + percent(column.missing.synthetic) : "–",
        },
      ],
    }),
  );
}

// What the release says of each column, and how sure that is.

function figureScale(column, one) {
  const scale = column.bars ? column.bars.scale : "share";
  if (one.name === "missing" || scale === "share") return percent;
  if (one.name === "standard deviation") return (value) => span(value, scale);
  return (value) => spelt(value, scale);
}

/** Numbers of one kind with their intervals, as points with error bars on one line each. */
function intervals(width, given, format, label) {
  const rows = given.map((row, place) => ({ ...row, place }));
  const narrow = width < 520;
  return plotted({
    width,
    height: rows.length * 28 + 44,
    marginLeft: narrow ? 110 : 200,
    marginRight: 24,
    marginBottom: label ? 40 : 28,
    x: { label: label || null, ticks: narrow ? 3 : 6, tickFormat: format, inset: 6 },
    y: {
      domain: rows.map((row) => row.place),
      label: null,
      tickSize: 0,
      tickFormat: (place) => shortened(rows[place].name, narrow ? 15 : 28),
    },
    marks: [
      Plot.ruleY(rows, { x1: "low", x2: "high", y: "place", stroke: "var(--warm)", strokeWidth: 2.5 }),
      Plot.dot(rows, { x: "value", y: "place", r: 4.5, fill: "var(--synthetic)" }),
      Plot.tip(
        rows,
        Plot.pointerY({
          x: "value",
          y: "place",
          title: (row) =>
            isolated(row.name) + ": " + format(row.value) + "\n" + format(row.low) + " to " + format(row.high),
        }),
      ),
    ],
  });
}

function predictedDetail(column) {
  const rows = column.figures.map((one) => {
    const format = figureScale(column, one);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, named(one.name)),
      [one.value, one.low, one.high].map((value) => el("td", { class: "number" }, format(value))),
    );
  });
  const heads = ["Figure", "Release", "From", "To"].map((words, i) =>
    el("th", { scope: "col", class: i ? "number" : null }, words),
  );
  const numbers = el(
    "table",
    { class: "plain" },
    el("caption", {}, "What the release says, and where the real numbers should be"),
    el("thead", {}, el("tr", {}, heads)),
    el("tbody", {}, rows),
  );
  const drawnOnes = column.bars
    ? column.figures.filter((one) => one.name !== "standard deviation" && one.name !== "missing")
    : column.figures.slice(0, MOST_CATEGORIES);
  const format = drawnOnes.length ? figureScale(column, drawnOnes[0]) : figure;
  const label = "Figures of " + isolated(column.name) + " with their intervals; the table below has them.";
  return el(
    "div",
    { class: "opened" },
    column.bars ? largeDistribution(column.name, column.bars, []) : null,
    drawnOnes.length ? chart(label, drawnOnes.length * 28 + 44, (width) => intervals(width, drawnOnes, format)) : null,
    numbers,
  );
}

/** A figure of a column by its name, with its interval in small print. */
function predictedFigure(column, name) {
  const one = column.figures.find((other) => other.name === name);
  if (!one) return "–";
  const short = column.bars && one.name !== "missing" && one.name !== "standard deviation";
  const format = short ? (value) => speltShort(value, column.bars.scale) : figureScale(column, one);
  return [
    el("span", { class: "pair" }, format(one.value)),
    el("small", {}, format(one.low) + " to " + format(one.high)),
  ];
}

/** How wide an interval is, compared with the width of the column: of a share, with 1. */
function doubt(column, name) {
  const one = column.figures.find((other) => other.name === name);
  if (!one) return -Infinity;
  const edges = column.bars && name !== "missing" ? column.bars.edges : [0, 1];
  return (one.high - one.low) / (edges[edges.length - 1] - edges[0] || 1);
}

function predictedPicture(column) {
  if (column.bars) return smallDistribution(column.name, column.bars, []);
  const categories = column.figures
    .filter((one) => one.name !== "missing")
    .map((one) => ({ value: one.name, synthetic: one.value, real: null }));
  return categories.length ? smallDistribution(column.name, null, categories) : "–";
}

function drawPredicted(place) {
  const numeric = (name, words) => ({
    words,
    number: true,
    by: (column) => doubt(column, name),
    cell: (column) => predictedFigure(column, name),
  });
  place.append(
    legend(true),
    list({
      caption: "Columns in the order of the schema; the heads sort by how wide intervals are, in units of the widths",
      search: "Search columns by name",
      rows: page.predicted.columns,
      text: (column) => column.name,
      detail: predictedDetail,
      columns: [
        {
          words: "Column",
          by: (column) => column.name,
          cell: (column) => named(column.name),
          below: (column) => el("small", {}, column.kind),
        },
        { words: "Distribution", class: "picture", cell: predictedPicture },
        numeric("mean", "Mean"),
        numeric("standard deviation", "Deviation"),
        numeric("median", "Median"),
        numeric("missing", "Missing"),
      ],
    }),
  );
}

function drawPredictedPairs(place) {
  const pairs = page.predicted.pairs;
  const top = pairs
    .slice(0, 12)
    .map((pair) => ({ ...pair, name: isolated(pair.columns[0]) + " × " + isolated(pair.columns[1]) }));
  const heads = ["Column", "Other column", "Release", "From", "To"].map((words, i) =>
    el("th", { scope: "col", class: i > 1 ? "number" : null }, words),
  );
  const rows = pairs.map((pair) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, named(pair.columns[0])),
      el("td", { "data-head": "Other column" }, named(pair.columns[1])),
      [
        ["Release", pair.value],
        ["From", pair.low],
        ["To", pair.high],
      ].map(([head, value]) => el("td", { class: "number", "data-head": head, "data-by": value }, figure(value))),
    ),
  );
  const table = el(
    "table",
    { class: "sortable" },
    el("caption", {}, "The strongest correlations and their intervals"),
    el("thead", {}, el("tr", {}, heads)),
    el("tbody", {}, rows),
  );
  place.append(
    el("h3", {}, "The strongest correlations"),
    chart("The strongest correlations with their intervals; the table below has them.", top.length * 28 + 44, (width) =>
      intervals(width, top, figure, "correlation"),
    ),
    table,
  );
  enhanced(table);
}
