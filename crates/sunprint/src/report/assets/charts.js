// Charts are drawn when they come into view, again when their width or the theme changes, and all before printing.

const charts = new Set();

/** No more than so many charts are drawn for paper at once. */
const MOST_ON_PAPER = 200;

const onPaper = window.matchMedia("print");
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark now; paper never is. */
function isDark() {
  if (onPaper.matches) return false;
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : prefersDark.matches;
}

const inView = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const chart = entry.target.chart;
      if (entry.isIntersecting && chart) drawn(chart);
    }
  },
  { rootMargin: "200px" },
);

function drawn(chart) {
  const width = Math.max(120, Math.floor(chart.box.clientWidth || 640));
  if (chart.width === width && chart.dark === (chart.themed && isDark())) return;
  chart.width = width;
  chart.dark = chart.themed && isDark();
  try {
    const picture = chart.draw(width);
    picture.setAttribute("aria-hidden", "true");
    chart.box.replaceChildren(picture);
  } catch (error) {
    chart.box.replaceChildren(el("p", { class: "aside" }, "This chart could not be drawn."));
    console.error(error);
  }
  chart.box.dataset.drawn = "yes";
}

/**
 * A place that `draw` fills when it is seen. Whoever cannot see hears the label.
 * `themed` charts compute colours and are drawn again in another theme; others take them from the style.
 */
function chart(label, height, draw, themed) {
  const box = el("div", { class: "chart", role: "img", "aria-label": label });
  box.style.minHeight = height + "px";
  box.chart = { box, draw, themed: Boolean(themed), width: null, dark: null };
  charts.add(box.chart);
  inView.observe(box);
  return box;
}

/** Forgets the charts within an element that is about to be replaced. */
function forget(element) {
  for (const box of element.querySelectorAll(".chart")) {
    inView.unobserve(box);
    charts.delete(box.chart);
  }
}

function redrawn() {
  for (const chart of charts) {
    if (chart.width !== null && chart.box.isConnected) drawn(chart);
  }
}

function drawnForPaper() {
  let left = MOST_ON_PAPER;
  for (const chart of charts) {
    if (left-- <= 0) break;
    if (chart.width === null || chart.themed) drawn(chart);
  }
}

let opened = [];

/** Who wants to know when the page goes to paper (true), and when it comes back (false). */
const paperWatchers = [];

function beforePaper() {
  paperWatchers.forEach((watcher) => watcher(true));
  opened = opened.concat(Array.from(document.querySelectorAll("details[data-print]:not([open])")));
  opened.forEach((details) => details.setAttribute("open", ""));
  drawnForPaper();
}

function afterPaper() {
  paperWatchers.forEach((watcher) => watcher(false));
  opened.forEach((details) => details.removeAttribute("open"));
  opened = [];
  redrawn();
}

function startCharts() {
  let waiting = null;
  window.addEventListener("resize", () => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(redrawn, 120);
  });
  window.addEventListener("beforeprint", beforePaper);
  window.addEventListener("afterprint", afterPaper);
  onPaper.addEventListener("change", () => (onPaper.matches ? beforePaper() : afterPaper()));
  prefersDark.addEventListener("change", redrawn);
}

/** A button that turns the theme over, and says what it would do. */
function startTheme() {
  const button = document.getElementById("theme");
  const say = () => (button.textContent = isDark() ? "Light theme" : "Dark theme");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    say();
    redrawn();
  });
  prefersDark.addEventListener("change", say);
  say();
}

/** What all charts have in common. */
function plotted(options) {
  return Plot.plot({ style: { background: "none", overflow: "visible" }, ...options });
}

/** Horizontal bars with a label each, an interval if there is one, and a value at the end. */
function bars(width, given, options) {
  const rows = given.map((row, place) => ({ ...row, place }));
  const domain = options.domain || [0, Math.max(...rows.map((row) => Math.max(row.value, row.high || 0))) * 1.15 || 1];
  const narrow = width < 520;
  const marks = [];
  for (const row of rows) {
    marks.push(
      Plot.barX([row], {
        x: "value",
        y: "place",
        fill: row.hatched ? "var(--faint)" : row.outlined ? "none" : "var(--synthetic)",
        stroke: row.outlined || row.hatched ? "var(--real)" : "none",
        strokeWidth: 1.5,
        strokeDasharray: row.hatched ? "3 3" : null,
        insetTop: 3,
        insetBottom: 3,
      }),
    );
  }
  const sure = rows.filter((row) => isNumber(row.low) && isNumber(row.high));
  marks.push(
    Plot.ruleY(sure, { x1: "low", x2: "high", y: "place", stroke: "var(--warm)", strokeWidth: 2.5 }),
    Plot.tickX(sure, { x: "low", y: "place", stroke: "var(--warm)", strokeWidth: 2, insetTop: 9, insetBottom: 9 }),
    Plot.tickX(sure, { x: "high", y: "place", stroke: "var(--warm)", strokeWidth: 2, insetTop: 9, insetBottom: 9 }),
    Plot.text(rows, {
      x: (row) => Math.max(row.value, row.high || 0),
      y: "place",
      text: (row) => options.format(row.value),
      textAnchor: "start",
      dx: 8,
      fontWeight: 600,
    }),
    Plot.ruleX([0], { stroke: "var(--line)" }),
    Plot.tip(
      rows,
      Plot.pointerY({
        x: "value",
        y: "place",
        title: (row) => row.title,
      }),
    ),
  );
  return plotted({
    width,
    height: rows.length * 40 + (options.label ? 44 : 8),
    marginLeft: narrow ? 104 : 170,
    marginRight: 64,
    marginTop: 4,
    marginBottom: options.label ? 40 : 4,
    x: {
      domain,
      label: options.label || null,
      ticks: narrow ? 3 : 6,
      axis: options.label ? "bottom" : null,
      grid: false,
      tickFormat: options.ticks,
    },
    y: {
      domain: rows.map((row) => row.place),
      label: null,
      tickSize: 0,
      tickFormat: (place) => shortened(rows[place].name, narrow ? 14 : 24),
    },
    marks,
  });
}
