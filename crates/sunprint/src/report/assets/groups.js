// What can be learnt from synthetic rows, and how groups of rows fare.

function drawAccuracy(place, own) {
  const rows = [
    { name: "learnt from real", value: own.real, outlined: true },
    { name: "from synthetic", value: own.synthetic },
    { name: "commonest class", value: own.commonest, hatched: true },
  ].map((row) => ({ ...row, title: row.name + ": " + percent(row.value) + " told rightly" }));
  const label = "Told rightly: " + rows.map((row) => row.name + " " + percent(row.value)).join(", ") + ".";
  place.append(
    chart(label, 164, (width) =>
      bars(width, rows, { format: percent, domain: [0, 1], label: "told rightly", ticks: percent }),
    ),
  );
}

function drawWeights(place, own) {
  if (!own.weights.length) return;
  const two = own.classes.length <= 2;
  const rows = own.weights.slice(0, 20).map((weight, place) => ({
    ...weight,
    place,
    name: two ? weight.coordinate : weight.coordinate + " (" + weight.class + ")",
  }));
  const label =
    "The largest weights of both regressions for " +
    isolated(own.label) +
    ", learnt from real and from synthetic rows; the table below has them.";
  const draw = (width) => {
    const narrow = width < 520;
    return plotted({
      width,
      height: rows.length * 26 + 50,
      marginLeft: narrow ? 116 : 230,
      marginRight: 24,
      marginBottom: 40,
      x: { label: "weight", ticks: narrow ? 3 : 6, tickFormat: figure, inset: 8 },
      y: {
        domain: rows.map((row) => row.place),
        label: null,
        tickSize: 0,
        tickFormat: (at) => shortened(rows[at].name, narrow ? 15 : 32),
      },
      marks: [
        Plot.ruleX([0], { stroke: "var(--line)" }),
        Plot.ruleY(rows, { x1: "real", x2: "synthetic", y: "place", stroke: "var(--soft)", strokeWidth: 1 }),
        Plot.dot(rows, { x: "synthetic", y: "place", r: 4.5, fill: "var(--synthetic)" }),
        Plot.dot(rows, { x: "real", y: "place", r: 4.5, stroke: "var(--real)", strokeWidth: 1.6 }),
        Plot.tip(
          rows,
          Plot.pointerY({
            x: "real",
            y: "place",
            title: (row) => isolated(row.name) + "\nreal " + figure(row.real) + "\nsynthetic " + figure(row.synthetic),
          }),
        ),
      ],
    });
  };
  const more = own.weights.length - rows.length + own.more_weights;
  place.append(
    el("h4", {}, "Weights of the two regressions"),
    legend(false),
    chart(label, rows.length * 26 + 50, draw),
    more > 0 ? el("p", { class: "aside" }, count(more) + " smaller weights are not drawn.") : "",
    numbersBelow(
      "The weights as a table",
      ["Coordinate", "Class", "#Real", "#Synthetic"],
      own.weights.map((weight) => [weight.coordinate, weight.class, figure(weight.real), figure(weight.synthetic)]),
    ),
  );
}

function drawLearning() {
  page.learning.labels.forEach((own, i) => {
    drawAccuracy(document.getElementById("learning-accuracy-" + i), own);
    drawWeights(document.getElementById("learning-weights-" + i), own);
  });
}

function drawStrata(place) {
  const rows = page.strata.strata
    .filter((stratum) => isNumber(stratum.mean_error) && stratum.real_rows > 0)
    .map((stratum) => ({ ...stratum, name: stratum.values.map(isolated).join(", ") }));
  if (rows.length < 2) return;
  const label =
    "Error of the means against the size of each of " + count(rows.length) + " groups; the table below has them.";
  const many = rows.length > 40;
  const worst = rows.reduce((a, b) => (b.mean_error > a.mean_error ? b : a));
  place.append(
    chart(label, 280, (width) =>
      plotted({
        width,
        height: 280,
        marginLeft: 60,
        marginRight: 24,
        marginBottom: 40,
        x: { type: "log", label: "real rows in the group", ticks: width < 520 ? 3 : 6, tickFormat: figure, inset: 10 },
        y: { label: "typical error of the means, in widths", zero: true, nice: true, ticks: 5, tickFormat: figure },
        marks: [
          Plot.ruleY([0], { stroke: "var(--line)" }),
          Plot.dot(rows, {
            x: "real_rows",
            y: "mean_error",
            r: many ? 3 : 5,
            fill: "var(--synthetic)",
            fillOpacity: 0.8,
          }),
          Plot.text([worst], {
            x: "real_rows",
            y: "mean_error",
            text: (row) => shortened(row.values.join(", "), 22),
            dx: 10,
            textAnchor: "start",
          }),
          Plot.tip(
            rows,
            Plot.pointer({
              x: "real_rows",
              y: "mean_error",
              title: (row) =>
                row.name + "\n" + count(row.real_rows) + " real rows\nerror of the means " + figure(row.mean_error),
            }),
          ),
        ],
      }),
    ),
  );
}
