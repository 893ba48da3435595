// Correlation matrices side by side. A matrix that is larger than its picture is drawn in squares, each of which shows the
// pair in it that matters most: the strongest, or the one with the largest difference.

/** Squares along one side of a picture. */
const MOST_SQUARES = 240;

/** A triangle below the diagonal from base64: 16-bit integers, little endian, 32,767 for 1. */
function decoded(text) {
  const bytes = Uint8Array.from(window.atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const values = new Float32Array(bytes.length >> 1);
  for (let i = 0; i < values.length; i++) values[i] = view.getInt16(2 * i, true) / 32767;
  return values;
}

function pairIn(triangle, i, j) {
  if (i === j) return 1;
  const [high, low] = i > j ? [i, j] : [j, i];
  return triangle[(high * (high - 1)) / 2 + low];
}

/** The squares of a picture: the value in each, and the pair that it is of. */
function squares(size, value) {
  const step = Math.ceil(size / MOST_SQUARES);
  const side = Math.ceil(size / step);
  const values = new Float32Array(side * side);
  const pairs = new Int32Array(side * side * 2);
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const at = row * side + column;
      let best = -1;
      for (let i = row * step; i < Math.min(size, (row + 1) * step); i++) {
        for (let j = column * step; j < Math.min(size, (column + 1) * step); j++) {
          const here = i === j && step > 1 ? 0 : value(i, j);
          if (Math.abs(here) <= best) continue;
          best = Math.abs(here);
          values[at] = here;
          pairs[2 * at] = i;
          pairs[2 * at + 1] = j;
        }
      }
    }
  }
  return { side, step, values, pairs };
}

/** Orange below zero, Prussian blue above it. Colours are looked up: there are many squares. */
function colours() {
  const scale = isDark()
    ? ["#ffb066", "#8a4a12", "#1b232e", "#1f5f99", "#8fd0ff"]
    : ["#7a3300", "#e08b3c", "#f7f7f4", "#4f8fc4", "#00264d"];
  const smooth = d3.piecewise(d3.interpolateRgb, scale);
  const table = d3.range(256).map((i) => d3.rgb(smooth(i / 255)).formatHex());
  return (t) => table[Math.round(Math.max(0, Math.min(1, t)) * 255)];
}

function matrix(width, grid, most) {
  const size = Math.min(width, 420);
  return plotted({
    width: size,
    height: size,
    margin: 0,
    x: { axis: null, domain: [0, grid.side] },
    y: { axis: null, domain: [grid.side, 0] },
    color: { type: "diverging", domain: [-most, most], interpolate: colours(), clamp: true },
    marks: [
      Plot.raster(grid.values, {
        width: grid.side,
        height: grid.side,
        fill: Plot.identity,
        imageRendering: "pixelated",
      }),
      Plot.frame({ stroke: "var(--line)" }),
    ],
  });
}

/** The square under the pointer, if it is over one. */
function under(event, box, grid) {
  const svg = box.querySelector("svg");
  if (!svg) return null;
  const place = svg.getBoundingClientRect();
  const column = Math.floor(((event.clientX - place.left) / place.width) * grid.side);
  const row = Math.floor(((event.clientY - place.top) / place.height) * grid.side);
  if (row < 0 || column < 0 || row >= grid.side || column >= grid.side) return null;
  return [grid.pairs[2 * (row * grid.side + column)], grid.pairs[2 * (row * grid.side + column) + 1]];
}

function ramp(most) {
  return el(
    "div",
    { class: "ramp", "aria-hidden": "true" },
    el("span", {}, "−" + figure(most)),
    el("span", { class: "bar" }),
    el("span", {}, "+" + figure(most)),
  );
}

function drawMatrices(place) {
  const own = page.correlations;
  const size = own.names.length;
  if (size < 2) return;
  const real = own.real ? decoded(own.real) : null;
  const synthetic = decoded(own.synthetic);
  const difference = (i, j) => (i === j ? 0 : pairIn(synthetic, i, j) - pairIn(real, i, j));
  const readout = el("p", { class: "readout", id: "pair" }, "Point at a matrix to read a pair, or name one below.");
  const say = (target, [i, j]) => {
    const words =
      i === j
        ? " with itself: 1"
        : real
          ? ": real " +
            figure(pairIn(real, i, j)) +
            ", synthetic " +
            figure(pairIn(synthetic, i, j)) +
            ", difference " +
            signed(difference(i, j))
          : ": " + figure(pairIn(synthetic, i, j));
    target.replaceChildren(named(own.names[i]), ...(i === j ? [] : [" and ", named(own.names[j])]), words);
  };
  let largest = 0;
  if (real) for (let at = 0; at < real.length; at++) largest = Math.max(largest, Math.abs(synthetic[at] - real[at]));
  const views = [
    ["Real", (i, j) => pairIn(real, i, j), 1],
    ["Synthetic", (i, j) => pairIn(synthetic, i, j), 1],
    ["Difference", difference, largest || 1],
  ];
  const shown = real ? views : [["Release", views[1][1], 1]];
  const step = Math.ceil(size / MOST_SQUARES);
  const figures = shown.map(([title, value, most]) => {
    let grid = null;
    const label =
      title +
      ": correlations of " +
      count(size) +
      " coordinates as a matrix of colours, from −" +
      figure(most) +
      " to " +
      figure(most) +
      ".";
    const box = chart(label, 200, (width) => matrix(width, (grid = grid || squares(size, value)), most), true);
    box.addEventListener("pointermove", (event) => {
      const pair = grid && under(event, box, grid);
      if (pair) say(readout, pair);
    });
    return el("figure", { class: "matrix" }, el("figcaption", {}, title), box, ramp(most));
  });
  place.append(el("div", { class: "matrices" + (real ? "" : " single") }, figures), readout);
  if (step > 1)
    place.append(
      el(
        "p",
        { class: "aside" },
        "Every square stands for " + step + " × " + step + " pairs and shows the largest of them.",
      ),
    );
  place.append(lookup(own.names, say));
}

/** Two fields in which a pair can be named. */
function lookup(names, say) {
  const places = new Map(names.map((name, i) => [name, i]));
  const options = el(
    "datalist",
    { id: "coordinates" },
    names.map((name) => el("option", { value: name })),
  );
  const answer = el("p", { class: "readout", role: "status" });
  const fields = ["First column of a pair", "Second column of a pair"].map((label) => {
    const input = el("input", { type: "text", list: "coordinates", autocomplete: "off", spellcheck: "false" });
    return { input, whole: el("label", { class: "search" }, el("span", {}, label), input) };
  });
  const look = () => {
    const pair = fields.map((field) => places.get(field.input.value));
    if (pair.every((one) => one !== undefined)) say(answer, pair);
    else answer.textContent = "";
  };
  fields.forEach((field) => field.input.addEventListener("input", look));
  return el(
    "div",
    { class: "tools lookup" },
    fields.map((field) => field.whole),
    options,
    answer,
  );
}
