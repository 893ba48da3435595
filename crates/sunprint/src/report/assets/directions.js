// Rows along two directions, and the variance of every direction against the noise.

function axisWords(axis, number) {
  const weights = axis.weights.slice(0, 3).map(([name, weight]) => signed(weight) + " " + shortened(name, 16));
  return "direction " + number + (weights.length ? ": " + weights.join(", ") : "");
}

function drawPlane(place) {
  const own = page.plane;
  const rows = (points, table) => points.map(([x, y]) => ({ x, y, table }));
  const real = rows(own.real, "real");
  const synthetic = rows(own.synthetic, real.length ? "synthetic" : "release");
  const all = real.concat(synthetic);
  if (!all.length) return;
  const domain = (key) => d3.extent(all, (row) => row[key]);
  let together = false;
  const draw = (width) => {
    const columns = real.length && !together ? (width < 560 ? "fy" : "fx") : null;
    const split = columns ? { [columns]: "table" } : {};
    return plotted({
      width,
      height:
        columns === "fy"
          ? Math.min(760, width * 1.7)
          : columns
            ? Math.min(460, width / 2 + 60)
            : Math.min(520, width * 0.8),
      marginLeft: 48,
      marginRight: columns === "fy" ? 70 : 16,
      marginBottom: 42,
      marginTop: columns ? 48 : 30,
      x: { domain: domain("x"), label: axisWords(own.axes[0], 1), nice: true, ticks: 4, inset: 4 },
      y: { domain: domain("y"), label: axisWords(own.axes[1], 2), nice: true, ticks: 5, inset: 4 },
      fx: { label: null, domain: ["real", "synthetic"] },
      fy: { label: null, domain: ["real", "synthetic"] },
      marks: [
        Plot.frame({ stroke: "var(--line)" }),
        Plot.dot(synthetic, { x: "x", y: "y", ...split, r: 2, fill: "var(--synthetic)", fillOpacity: 0.55 }),
        real.length
          ? Plot.dot(real, {
              x: "x",
              y: "y",
              ...split,
              r: 2.2,
              stroke: "var(--real)",
              strokeOpacity: 0.7,
              strokeWidth: 1,
            })
          : null,
        Plot.tip(
          all,
          Plot.pointer({
            x: "x",
            y: "y",
            ...split,
            title: (row) => row.table + "\n" + figure(row.x) + ", " + figure(row.y),
            maxRadius: 24,
          }),
        ),
      ],
    });
  };
  const label =
    "Rows along two directions: " +
    (real.length ? count(real.length) + " real and " : "") +
    count(synthetic.length) +
    " synthetic points. " +
    "The first direction runs from " +
    domain("x").map(figure).join(" to ") +
    ", the second from " +
    domain("y").map(figure).join(" to ") +
    ".";
  const box = chart(label, 300, draw);
  place.append(legend(!real.length));
  if (real.length) {
    const button = el("button", { type: "button", "aria-pressed": "false" }, "Lay one over the other");
    button.addEventListener("click", () => {
      together = !together;
      button.setAttribute("aria-pressed", String(together));
      box.chart.width = null;
      drawn(box.chart);
    });
    place.append(el("div", { class: "tools" }, button));
  }
  place.append(box);
}

function drawSpectrum(place) {
  const own = page.spectrum;
  const all = own.variances.map((variance, i) => ({ rank: i + 1, variance, above: variance > own.edge }));
  if (!all.length) return;
  const above = all.filter((row) => row.above);
  // Beyond these there is nothing but noise to see.
  const rows = all.slice(0, Math.max(60, 3 * above.length, 2 * (own.dimension || 0)));
  const log = own.edge > 0 && rows[0].variance / own.edge > 20;
  const low = log ? Math.max(own.edge / 20, Math.min(own.edge, ...rows.map((row) => Math.max(row.variance, 0)))) : null;
  const label =
    "Released variances of " +
    count(all.length) +
    " directions, largest first: " +
    count(above.length) +
    " above the noise edge of " +
    figure(own.edge) +
    ".";
  const many = rows.length > 120;
  const words = (row) =>
    "direction " +
    row.rank +
    "\nvariance " +
    figure(row.variance) +
    "\n" +
    (row.above ? "above the noise" : "not above the noise");
  place.append(
    chart(label, 300, (width) =>
      plotted({
        width,
        height: 300,
        marginLeft: 60,
        marginRight: 16,
        marginBottom: 40,
        x: {
          type: "linear",
          domain: [0.5, rows.length + 0.5],
          label: "direction, by variance",
          ticks: Math.min(rows.length, width < 520 ? 4 : 10),
          tickFormat: (rank) => (Number.isInteger(rank) ? String(rank) : ""),
        },
        y: {
          type: log ? "log" : "linear",
          label: "released variance",
          ticks: 5,
          tickFormat: figure,
          nice: true,
          ...(log ? { domain: [low, rows[0].variance], clamp: true } : { zero: true }),
        },
        marks: [
          Plot.ruleY([own.edge], { stroke: "var(--warm)", strokeWidth: 1.6, strokeDasharray: "6 4" }),
          Plot.text([own.edge], {
            y: (edge) => edge,
            text: () => "noise edge",
            frameAnchor: "right",
            dy: -9,
            textAnchor: "end",
            fill: "var(--warm)",
            fontWeight: 600,
          }),
          own.dimension ? Plot.ruleX([own.dimension + 0.5], { stroke: "var(--soft)", strokeDasharray: "2 3" }) : null,
          own.dimension
            ? Plot.text([own.dimension + 0.5], {
                x: (at) => at,
                text: () => (own.dimension > rows.length / 2 ? "measured in detail" : "← measured in detail"),
                frameAnchor: "top",
                dx: own.dimension > rows.length / 2 ? -6 : 6,
                dy: 4,
                textAnchor: own.dimension > rows.length / 2 ? "end" : "start",
                fill: "var(--soft)",
              })
            : null,
          Plot.dot(above, { x: "rank", y: "variance", r: many ? 2.5 : 4, fill: "var(--synthetic)" }),
          Plot.dot(
            rows.filter((row) => !row.above),
            { x: "rank", y: "variance", r: many ? 1.8 : 3.5, stroke: "var(--soft)" },
          ),
          Plot.tip(rows, Plot.pointerX({ x: "rank", y: "variance", title: words })),
        ],
      }),
    ),
    all.length > rows.length
      ? el(
          "p",
          { class: "aside" },
          "The other " + count(all.length - rows.length) + " directions cannot be told from noise and are not drawn.",
        )
      : "",
    numbersBelow(
      "The variances as a table",
      ["Direction", "#Variance", "Against the noise"],
      rows.map((row) => [String(row.rank), figure(row.variance), row.above ? "above" : "not above"]),
    ),
  );
}

/** The numbers of a chart as a table that opens. */
function numbersBelow(title, heads, rows) {
  const number = (i) => (heads[i].startsWith("#") ? "number" : null);
  const table = el(
    "table",
    { class: "plain" },
    el("caption", {}, title),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        heads.map((head, i) => el("th", { scope: "col", class: number(i) }, head.replace("#", ""))),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map((row) =>
        el(
          "tr",
          {},
          row.map((cell, i) =>
            i
              ? el("td", { class: number(i), "data-head": heads[i].replace("#", "") }, named(cell))
              : el("th", { scope: "row" }, named(cell)),
          ),
        ),
      ),
    ),
  );
  return el("details", {}, el("summary", {}, title), table);
}
