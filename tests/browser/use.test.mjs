// A reader searches, sorts, points, types and saves.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, test } from "node:test";
import { browser, numbers, open, pageNamed, readThrough } from "./browser.mjs";

let running;
before(async () => (running = await browser()));
after(() => running.close());

/** A test on one page that must stay quiet. */
function on(name, words, work, options) {
  test(name + ": " + words, async () => {
    const { page, trouble } = await open(running.context, pageNamed(name).file, options);
    await work(page);
    assert.deepEqual(trouble, []);
    await page.close();
  });
}

const shownNames = (page, panel) =>
  page.locator("#" + panel + " .list tbody tr:not(.detail) th button.name").allTextContents();

on("wide-1000", "search narrows the columns, and nothing found is said", async (page) => {
  const search = page.locator("#columns input[type=search]");
  const status = page.locator("#columns .status");
  assert.equal(await status.innerText(), "1 to 25 of 1,000");
  assert.equal((await shownNames(page, "columns")).length, 25);
  await search.fill("GENE_099");
  assert.deepEqual(
    await shownNames(page, "columns"),
    Array.from({ length: 10 }, (_, i) => "gene_099" + i),
  );
  assert.equal(await status.innerText(), "1 to 10 of 10 found of 1,000");
  await search.fill("no such column");
  assert.equal((await shownNames(page, "columns")).length, 0);
  assert.equal(await status.innerText(), "None found of 1,000");
  await search.fill("");
  assert.equal(await status.innerText(), "1 to 25 of 1,000");
});

on("wide-1000", "pages are turned, and only what is seen is drawn", async (page) => {
  assert.ok((await page.locator("#columns .chart[data-drawn]").count()) <= 25);
  await page.locator("#columns .pages button", { hasText: "Next" }).click();
  assert.equal(await page.locator("#columns .status").innerText(), "26 to 50 of 1,000");
  assert.equal((await shownNames(page, "columns"))[0], "gene_0025");
  await page.locator("#columns .pages button", { hasText: "Previous" }).click();
  assert.equal(await page.locator("#columns .pages button", { hasText: "Previous" }).isDisabled(), true);
});

on("demo", "columns are sorted both ways, and the head says which", async (page) => {
  const data = await numbers(page);
  const head = (words) => page.locator("#columns thead th", { hasText: words });
  assert.equal(await head("W1").getAttribute("aria-sort"), "descending", "worst first");
  const byName = data.columns.columns
    .map((column) => column.name)
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  await head("Column").locator("button").click();
  assert.deepEqual(await shownNames(page, "columns"), byName);
  assert.equal(await head("Column").getAttribute("aria-sort"), "ascending");
  assert.equal(await head("W1").getAttribute("aria-sort"), null);
  await head("Column").locator("button").click();
  assert.deepEqual(await shownNames(page, "columns"), byName.reverse());
  assert.equal(await head("Column").getAttribute("aria-sort"), "descending");
  await head("W1").locator("button").click();
  const worst = data.columns.columns
    .slice()
    .sort((a, b) => b.w1 - a.w1)
    .map((column) => column.name);
  assert.deepEqual(await shownNames(page, "columns"), worst);
});

on("demo", "tables of the page are sorted by number, not by letter", async (page) => {
  const head = page.locator("#strata thead th", { hasText: "Real rows" });
  const column = () => page.locator("#strata tbody tr:visible td[data-head='Real rows']").allInnerTexts();
  const plain = async () => (await column()).map((text) => Number(text.replace(",", "")));
  const smallest = await plain();
  assert.deepEqual(
    smallest,
    smallest.slice().sort((a, b) => a - b),
    "smallest first",
  );
  await head.locator("button").click();
  const largest = await plain();
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  assert.deepEqual(
    largest,
    largest.slice().sort((a, b) => b - a),
  );
  assert.ok(largest[0] > smallest[smallest.length - 1], "rows that were not shown are sorted too");
  await head.locator("button").click();
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  assert.deepEqual(await plain(), smallest);
  await page.locator("#strata button.more").click();
  assert.equal((await plain()).length, 30);
  await page.locator("#strata input[type=search]").fill("female");
  assert.equal((await plain()).length, 10);
});

/** Text that Plot shows in a tip within a panel. */
const tips = (page, panel) => page.locator("#" + panel + " g[aria-label=tip] text").allTextContents();

async function pointAt(page, locator, x, y) {
  await readThrough(page);
  await locator.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
  const place = await locator.boundingBox();
  await page.mouse.move(place.x + place.width * x, place.y + place.height * y);
  await page.mouse.move(place.x + place.width * x + 1, place.y + place.height * y + 1);
}

on("demo", "pointing at charts shows values", async (page) => {
  await pointAt(page, page.locator("#distances .chart svg"), 0.4, 0.3);
  assert.match((await tips(page, "distances")).join(" "), /(floor|synthetic|ceiling).*0\.\d+/);
  await pointAt(page, page.locator("#columns .chart svg").first(), 0.5, 0.5);
  assert.match((await tips(page, "columns")).join(" "), /real .*%.*synthetic .*%/s);
  await pointAt(page, page.locator("#spectrum .chart svg"), 0.3, 0.5);
  assert.match((await tips(page, "spectrum")).join(" "), /direction \d+.*variance/s);
  await pointAt(page, page.locator("#strata .chart svg"), 0.15, 0.3);
  assert.match((await tips(page, "strata")).join(" "), /real rows/);
});

on("demo", "pointing at a matrix and naming a pair give the same", async (page) => {
  const data = await numbers(page);
  const [first, second] = data.correlations.worst[0].columns;
  const fields = page.locator("#correlations .lookup input");
  await fields.nth(0).fill(first);
  await fields.nth(1).fill(second);
  const named = await page.locator("#correlations .lookup .readout").innerText();
  assert.match(named, /real −?[\d.]+, synthetic −?[\d.]+, difference [+−][\d.]+/);
  const worst = data.correlations.worst[0];
  const shown = Number(named.match(/difference (\S+)/)[1].replace("−", "-"));
  assert.ok(Math.abs(shown - worst.error) < 0.001, named + " against " + worst.error);
  const size = data.correlations.names.length;
  const [i, j] = [first, second].map((name) => data.correlations.names.indexOf(name));
  await pointAt(page, page.locator("#correlations .chart svg").nth(2), (j + 0.5) / size, (i + 0.5) / size);
  assert.equal(await page.locator("#pair").innerText(), named);
});

on("wide-1000", "a matrix that is larger than its picture tells the pair that matters most", async (page) => {
  await pointAt(page, page.locator("#correlations .chart svg").nth(0), 0.5, 0.52);
  assert.match(await page.locator("#pair").innerText(), /gene_\d{4} and gene_\d{4}: real/);
});

on("demo", "a row opens a larger chart below it, and closes it", async (page) => {
  const name = page.locator("#columns button.name").first();
  await name.click();
  assert.equal(await name.getAttribute("aria-expanded"), "true");
  await readThrough(page);
  assert.equal(await page.locator("#columns tr.detail .chart svg").count(), 1);
  assert.match(await page.locator("#columns tr.detail").innerText(), /Standard deviation/);
  await name.click();
  assert.equal(await page.locator("#columns tr.detail").count(), 0);
});

on("public", "predicted columns open with their intervals", async (page) => {
  await page.locator("#predicted button.name", { hasText: "income" }).click();
  await readThrough(page);
  assert.equal(await page.locator("#predicted tr.detail .chart svg").count(), 2);
  assert.match(await page.locator("#predicted tr.detail table").innerText(), /median/);
  assert.match(await page.locator("#citation").innerText(), /Sunprint/);
});

on("demo", "the theme is turned over and back", async (page) => {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const picture = () => page.locator("#correlations .chart image").first().getAttribute("href");
  await readThrough(page);
  const [light, before] = [await paper(), await picture()];
  await page.locator("#theme").click();
  assert.notEqual(await paper(), light);
  assert.notEqual(await picture(), before, "matrices are drawn again");
  assert.equal(await page.locator("#theme").innerText(), "Light theme");
  await page.locator("#theme").click();
  assert.equal(await paper(), light);
});

on("demo", "everything can be reached and worked with the keyboard", async (page) => {
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the report");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  const reached = [];
  for (let i = 0; i < 120; i++) {
    const here = await page.evaluate(() => {
      const element = document.activeElement;
      const style = getComputedStyle(element);
      return {
        tag: element.tagName,
        type: element.type,
        panel: (element.closest("section") || {}).id,
        words: element.textContent,
        class: element.className,
        outline: style.outlineStyle,
      };
    });
    if (here.tag === "BODY") break;
    assert.notEqual(here.outline, "none", "focus is seen on " + JSON.stringify(here));
    reached.push(here);
    if (here.panel === "columns" && here.class === "sort" && here.words === "Column") {
      await page.keyboard.press("Enter");
      assert.equal(await page.locator("#columns thead th").first().getAttribute("aria-sort"), "ascending");
      await page.keyboard.press("Space");
      assert.equal(await page.locator("#columns thead th").first().getAttribute("aria-sort"), "descending");
    }
    if (here.panel === "columns" && here.type === "search") {
      await page.keyboard.type("e");
      await page.keyboard.press("Backspace");
    }
    await page.keyboard.press("Tab");
  }
  const has = (fits, words) => assert.ok(reached.some(fits), words);
  has((one) => one.tag === "SUMMARY" && one.panel === "privacy", "the statement");
  has((one) => one.type === "search" && one.panel === "columns", "the search of columns");
  has((one) => one.class === "sort" && one.panel === "columns", "the heads of columns");
  has((one) => one.class === "name" && one.panel === "columns", "the names of columns");
  has((one) => one.class === "sort" && one.panel === "correlations", "the heads of pairs");
  has((one) => one.class === "sort" && one.panel === "strata", "the heads of groups");
  has((one) => one.words === "Save the numbers (JSON)", "saving");
});

on("hostile", "names are text, wherever they stand", async (page) => {
  await readThrough(page);
  const data = await numbers(page);
  assert.deepEqual(
    await shownNames(page, "columns"),
    data.columns.columns.map((column) => column.name),
  );
  assert.equal(await page.locator("h1 bdi").textContent(), data.dataset);
  assert.equal(await page.locator("#learning h3 bdi").textContent(), data.learning.labels[0].label);
  assert.deepEqual((await page.locator("#strata thead th").allTextContents()).slice(0, 2), data.strata.labels);
  assert.deepEqual(
    await page.locator("#strata tbody tr").first().locator("bdi").allTextContents(),
    data.strata.strata[0].values,
  );
  assert.equal(await page.locator("script").count(), 4, "no script but ours");
  assert.equal(
    await page
      .locator("main img, main iframe, main object, main b, main i, [onerror], [onload], a[href^=javascript]")
      .count(),
    0,
  );
  for (const column of data.columns.columns) {
    await page.locator("#columns input[type=search]").fill(column.name);
    assert.equal((await shownNames(page, "columns")).length, 1, column.name);
    await page.locator("#columns button.name").click();
  }
  assert.ok((await page.locator("#columns bdi").count()) > 0);
});

on("demo", "the numbers are saved as they stand in the page", async (page) => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
  assert.equal(download.suggestedFilename(), "people.json");
  assert.deepEqual(JSON.parse(fs.readFileSync(await download.path(), "utf8")), await numbers(page));
});

on("demo", "the plane is laid over", async (page) => {
  const button = page.locator("#plane button");
  await readThrough(page);
  const before = await page.locator("#plane svg").innerHTML();
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  assert.notEqual(await page.locator("#plane svg").innerHTML(), before);
});

on("demo", "a narrower window draws narrower charts", async (page) => {
  await readThrough(page);
  const width = () => page.locator("#distances svg").evaluate((svg) => Number(svg.getAttribute("width")));
  const before = await width();
  await page.setViewportSize({ width: 500, height: 900 });
  await page.waitForFunction(
    (before) => Number(document.querySelector("#distances svg").getAttribute("width")) < before,
    before,
  );
});

test("wide-100: a real print has the charts of all panels", async () => {
  const { page, trouble } = await open(running.context, pageNamed("wide-100").file);
  await page.evaluate(() =>
    window.addEventListener("beforeprint", () => {
      window.seen = [".chart", ".chart:not([data-drawn])", "#columns .list tbody tr"].map(
        (which) => document.querySelectorAll(which).length,
      );
    }),
  );
  const paper = await page.pdf();
  assert.ok(paper.length > 50_000, paper.length + " bytes");
  const [charts, empty, rows] = await page.evaluate(() => window.seen);
  assert.ok(charts > 60, charts + " charts");
  assert.equal(empty, 0, "printing draws what nobody has scrolled to");
  assert.equal(rows, 60, "more columns than on the screen");
  assert.equal(await page.locator("#columns .list tbody tr").count(), 25, "and as before afterwards");
  assert.deepEqual(trouble, []);
  await page.close();
});
