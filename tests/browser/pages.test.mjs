// What holds for every page: quiet, closed, drawn, readable by everybody, in every width and theme, and on paper.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { accessibility, browser, drawnCharts, numbers, open, overflow, pages, readThrough } from "./browser.mjs";
import { expectations, otherwise } from "./expectations.mjs";

const PANELS = [
  "privacy",
  "distances",
  "columns",
  "correlations",
  "plane",
  "spectrum",
  "learning",
  "strata",
  "validity",
  "changed",
  "predicted",
  "cite",
];

let running;
before(async () => (running = await browser()));
after(() => running.close());

for (const { name, file, bytes } of pages) {
  const expected = expectations[name] || otherwise;
  describe("the page " + name, () => {
    test("is small enough", () => assert.ok(bytes <= expected.bytes, bytes + " bytes"));

    test("is quiet, fetches nothing, and draws every panel that has numbers", async (t) => {
      const { page, trouble, milliseconds } = await open(running.context, file);
      t.diagnostic(name + ": " + bytes + " bytes, interactive after " + milliseconds + " ms");
      const data = await numbers(page);
      await readThrough(page);
      for (const panel of PANELS) {
        assert.equal(await page.locator("section#" + panel).count(), data[panel] ? 1 : 0, panel);
        if (!data[panel]) continue;
        assert.ok(await page.locator("section#" + panel).isVisible(), panel);
        const words = data[panel].origin === "curator" ? "curator only" : "free: from the release";
        assert.equal(await page.locator("section#" + panel + " > .heading .badge").innerText(), words);
      }
      const drawn = await drawnCharts(page);
      for (const panel of expected.charts) assert.ok(drawn[panel] && drawn[panel].drawn > 0, panel + " has a chart");
      for (const [panel, charts] of Object.entries(drawn)) assert.equal(charts.empty, 0, panel + " has empty charts");
      const absent = data.absent.length ? (await page.locator("#absent").innerText()).toLowerCase() : "";
      for (const { why } of data.absent) assert.ok(absent.includes(why.trim().toLowerCase()), why);
      assert.match(
        await page.locator("#banner").innerText(),
        data.origin === "curator" ? /CURATOR ONLY.*do not publish/ : /PUBLIC.*safe to publish/,
      );
      assert.ok((await page.locator("#headline .sentence").innerText()).length > 0);
      const verdict = data.verdict ? data.verdict.lines.map((line) => line.grade) : [];
      const grades = (await page.locator("#headline #verdict .grade").allInnerTexts()).map((text) => text.slice(2));
      assert.deepEqual(grades, verdict, "the verdict stands in the first section");
      assert.equal(await page.locator("#headline .notices li").count(), data.headline.notices.length);
      assert.equal(await page.locator(".chart:not([aria-label])").count(), 0, "every chart has words");
      assert.deepEqual(trouble, []);
      await page.close();
    });

    for (const [theme, width] of [
      ["light", 1200],
      ["dark", 1200],
      ["light", 360],
      ["dark", 360],
    ]) {
      test("can be used by everybody, " + theme + ", " + width + " px wide", async () => {
        const { page, trouble } = await open(running.context, file, { theme, width, height: 740 });
        await readThrough(page);
        assert.equal(await overflow(page), 0, "no scrolling sideways");
        await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
        const names = page.locator("button.name");
        if (await names.count()) await names.first().click();
        await readThrough(page);
        assert.equal(await overflow(page), 0, "no scrolling sideways with everything open");
        assert.deepEqual(await accessibility(page), []);
        assert.deepEqual(trouble, []);
        await page.close();
      });
    }

    test("goes to paper with its charts and without its buttons", async () => {
      const { page, trouble } = await open(running.context, file, { theme: "dark" });
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      await page.waitForFunction(() => !document.querySelector(".chart:not([data-drawn])"));
      const drawn = await drawnCharts(page);
      for (const panel of expected.charts) assert.ok(drawn[panel] && drawn[panel].drawn > 0, panel + " has a chart");
      for (const id of ["theme", "save"]) assert.equal(await page.locator("#" + id).isVisible(), false, id);
      assert.equal(await page.locator("input:visible").count(), 0);
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
      const closed = await page.locator("details[data-print]:not([open])").count();
      assert.equal(closed, 0, "the statement is open");
      await page.emulateMedia({ media: "screen", colorScheme: "dark" });
      await page.waitForFunction(() => !document.querySelector("details[data-print][open]"));
      assert.deepEqual(trouble, []);
      await page.close();
    });

    test("says what matters without scripts", async () => {
      const context = running.context;
      const page = await context.newPage();
      const session = await context.newCDPSession(page);
      await session.send("Emulation.setScriptExecutionDisabled", { value: true });
      await page.goto("file://" + file);
      for (const id of ["banner", "headline"]) assert.ok(await page.locator("#" + id).isVisible(), id);
      const text = await page.locator("main").textContent();
      const privacy = await page.locator("section#privacy").count();
      if (privacy) assert.ok(text.includes("Who is protected"));
      if (await page.locator("section#distances").count())
        assert.match(text, /Synthetic rows against real rows\s*0?\.?\d/);
      assert.equal(await page.locator("button:visible").count(), 0, "no button that does nothing");
      await page.close();
    });
  });
}
