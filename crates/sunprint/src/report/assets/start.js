// Everything is put into its place. A panel that cannot be drawn leaves the others alone, and says so.

function startSaving() {
  document.getElementById("save").addEventListener("click", () => {
    const address = URL.createObjectURL(
      new Blob([document.getElementById("numbers").textContent], { type: "application/json" }),
    );
    const name = (page.dataset || "report").replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "") || "report";
    const link = el("a", { href: address, download: name + ".json", hidden: true });
    document.body.append(link);
    link.click();
    link.remove();
    window.setTimeout(() => URL.revokeObjectURL(address), 10000);
  });
}

function startCopying() {
  const button = document.getElementById("copy");
  if (!button) return;
  button.addEventListener("click", () => {
    const say = (words) => (document.getElementById("copied").textContent = words);
    const text = document.getElementById("citation").textContent;
    const copied = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject();
    copied.then(
      () => say("Copied."),
      () => say("Not allowed here: select the text instead."),
    );
  });
}

const draws = [
  ["privacy", "privacy-budget", drawBudget],
  ["distances", "distances-chart", drawDistances],
  ["columns", "columns-table", drawColumns],
  ["correlations", "correlations-matrices", drawMatrices],
  ["plane", "plane-chart", drawPlane],
  ["spectrum", "spectrum-chart", drawSpectrum],
  ["learning", null, drawLearning],
  ["strata", "strata-chart", drawStrata],
  ["predicted", "predicted-columns", drawPredicted],
  ["predicted", "predicted-pairs", drawPredictedPairs],
];

document.querySelectorAll(".needs-script").forEach((element) => (element.hidden = false));
startTheme();
startCharts();
startSaving();
startCopying();
document.querySelectorAll("table.sortable").forEach(enhanced);
for (const [field, id, draw] of draws) {
  const place = id && document.getElementById(id);
  if (!page[field] || (id && !place)) continue;
  try {
    draw(place);
  } catch (error) {
    (place || document.getElementById(field)).append(el("p", { class: "aside" }, "This panel could not be drawn."));
    console.error(error);
  }
}
document.documentElement.dataset.ready = "yes";
