// A browser of its own for every file of tests, pages that are watched, and what holds for every page.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const packages = process.env.SUNPRINT_BROWSER_PACKAGES;
if (!packages) throw new Error("run tests/browser/run, which says where browser, packages and pages are");
const require = createRequire(path.join(packages, "package.json"));

export const packageFolder = path.join(packages, "node_modules");
const { chromium } = require("playwright-core");
const axeSource = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Every page to look at: its name, its file, its size. */
export const pages = process.env.SUNPRINT_PAGES.split(":").flatMap((folder) =>
  fs
    .readdirSync(folder)
    .filter((name) => name.endsWith(".html"))
    .sort()
    .map((name) => ({
      name: name.slice(0, -5),
      file: path.join(folder, name),
      bytes: fs.statSync(path.join(folder, name)).size,
    })),
);

export function pageNamed(name) {
  const found = pages.find((page) => page.name === name);
  if (!found) throw new Error("there is no page " + name);
  return found;
}

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A browser with a fresh folder for its data; `close` removes it. */
export async function browser() {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), "sunprint-browser-"));
  const running = await chromium.launchPersistentContext(data, {
    executablePath: process.env.SUNPRINT_BROWSER,
    headless: true,
    args: FLAGS,
    acceptDownloads: true,
  });
  const context = running;
  return {
    context,
    close: async () => {
      await running.close();
      fs.rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Opens a file and watches it: `trouble` collects errors, dialogs and requests that would leave the page. */
export async function open(context, file, options = {}) {
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") trouble.push("console: " + message.text());
  });
  page.on("pageerror", (error) => trouble.push("error: " + error.message));
  page.on("dialog", (dialog) => {
    trouble.push("dialog: " + dialog.message());
    dialog.dismiss();
  });
  await page.route("**/*", (route) => {
    const address = route.request().url();
    const own = address.startsWith("file:") && route.request().isNavigationRequest();
    if (own || address.startsWith("data:") || address.startsWith("blob:")) return route.continue();
    trouble.push("request: " + address);
    return route.abort();
  });
  await page.setViewportSize({ width: options.width || 1200, height: options.height || 900 });
  await page.emulateMedia({ colorScheme: options.theme || "light" });
  const start = performance.now();
  await page.goto(pathToFileURL(file).href);
  if (!options.unready) await page.waitForSelector("html[data-ready]", { timeout: 20000 });
  return { page, trouble, milliseconds: Math.round(performance.now() - start) };
}

/** Scrolls through the whole page, as a reader does, until every chart on it is drawn. */
export async function readThrough(page) {
  for (let round = 0; round < 3; round++) {
    const left = await page.evaluate(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      for (const chart of document.querySelectorAll(".chart:not([data-drawn])")) {
        if (chart.offsetParent === null) continue;
        chart.scrollIntoView({ block: "center", behavior: "instant" });
        for (let i = 0; i < 50 && !chart.dataset.drawn; i++) await frame();
      }
      return Array.from(document.querySelectorAll(".chart:not([data-drawn])")).filter(
        (chart) => chart.offsetParent !== null,
      ).length;
    });
    if (left === 0) break;
  }
}

/** Charts that are drawn and can be seen, by the panel that they are in. */
export async function drawnCharts(page) {
  return page.evaluate(() => {
    const found = {};
    for (const chart of document.querySelectorAll(".chart")) {
      const panel = chart.closest("section").id;
      const svg = chart.querySelector("svg");
      const place = svg ? svg.getBoundingClientRect() : { width: 0, height: 0 };
      const drawn =
        svg &&
        place.width > 50 &&
        place.height > 20 &&
        svg.querySelectorAll("path, rect, circle, line, image").length > 0;
      found[panel] = found[panel] || { drawn: 0, empty: 0 };
      found[panel][drawn ? "drawn" : "empty"] += 1;
    }
    return found;
  });
}

/** What axe finds that is serious or critical, in a line each. */
export async function accessibility(page) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map(
      (one) =>
        one.id +
        " (" +
        one.impact +
        "): " +
        one.nodes
          .slice(0, 3)
          .map((node) => node.target.join(" ") + " " + (node.any[0] || node.all[0] || node.none[0] || {}).message)
          .join("; "),
    );
}

/** How many pixels the page is wider than the window. */
export function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** The numbers that stand in the page. */
export function numbers(page) {
  return page.evaluate(() => JSON.parse(document.getElementById("numbers").textContent));
}
