// The control: pages that are broken on purpose are caught by the same watch.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { accessibility, browser, drawnCharts, open, overflow, pageNamed, readThrough } from "./browser.mjs";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "sunprint-broken-"));
const whole = fs.readFileSync(pageNamed("demo").file, "utf8");
const POLICY = /<meta http-equiv="Content-Security-Policy"[^>]*>\n/;

let running;
before(async () => (running = await browser()));
after(async () => {
  await running.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** The demonstration with a change that must have found something to change. */
function broken(name, change) {
  const text = change(whole);
  assert.notEqual(text, whole, "the page was changed");
  const file = path.join(folder, name + ".html");
  fs.writeFileSync(file, text);
  return file;
}

test("a picture from elsewhere is refused by the page's own policy, and heard", async () => {
  const file = broken("refused", (text) =>
    text.replace("</main>", '<img alt="" src="https://example.invalid/a.png"></main>'),
  );
  const { page, trouble } = await open(running.context, file);
  await page.waitForTimeout(300);
  assert.ok(
    trouble.some((line) => line.startsWith("console: ") && line.includes("Content Security Policy")),
    trouble.join(),
  );
  assert.ok(!trouble.some((line) => line.startsWith("request: ")), "it was never asked for");
  await page.close();
});

test("without a policy the request is seen", async () => {
  const file = broken("open", (text) =>
    text.replace(POLICY, "").replace("</main>", '<img alt="" src="https://example.invalid/a.png"></main>'),
  );
  const { page, trouble } = await open(running.context, file);
  await page.waitForTimeout(300);
  assert.ok(trouble.includes("request: https://example.invalid/a.png"), trouble.join());
  await page.close();
});

test("an injected script does not run", async () => {
  const file = broken("injected", (text) => text.replace("</main>", "<script>alert(1)</script></main>"));
  const { page, trouble } = await open(running.context, file);
  assert.ok(
    trouble.some((line) => line.includes("Content Security Policy")),
    trouble.join(),
  );
  assert.ok(!trouble.some((line) => line.startsWith("dialog: ")));
  await page.close();
});

test("an error in a script is seen, and so are the charts that are missing", async () => {
  const file = broken("error", (text) =>
    text
      .replace(POLICY, "")
      .replace(
        "function drawDistances(place) {",
        'function drawDistances(place) { throw new Error("broken on purpose");',
      ),
  );
  const { page, trouble } = await open(running.context, file);
  await readThrough(page);
  assert.ok(
    trouble.some((line) => line.includes("broken on purpose")),
    trouble.join(),
  );
  assert.equal((await drawnCharts(page)).distances, undefined);
  assert.ok((await drawnCharts(page)).columns.drawn > 0, "one broken panel leaves the others alone");
  await page.close();
});

test("a page whose script cannot be read is never ready", async () => {
  const file = broken("syntax", (text) =>
    text.replace(POLICY, "").replace('"use strict";\n// The numbers', '"use strict"; ((\n// The numbers'),
  );
  const { page, trouble } = await open(running.context, file, { unready: true });
  assert.ok(
    trouble.some((line) => line.startsWith("error: ")),
    trouble.join(),
  );
  assert.equal(await page.locator("html[data-ready]").count(), 0);
  await page.close();
});

test("a dialog is heard", async () => {
  const file = broken("dialog", (text) =>
    text.replace(POLICY, "").replace("</main>", "<script>alert(1)</script></main>"),
  );
  const { page, trouble } = await open(running.context, file);
  assert.ok(trouble.includes("dialog: 1"), trouble.join());
  await page.close();
});

test("grey on grey, nameless buttons and wide boxes are found", async () => {
  const bad = '<p id="pale">pale</p><button></button><div id="wide">wide</div>';
  const style = "<style>#pale{color:#aaa;background:#bbb}#wide{width:2000px;height:1px}</style>";
  const file = broken("pale", (text) =>
    text
      .replace(POLICY, "")
      .replace("</head>", style + "</head>")
      .replace("</main>", bad + "</main>"),
  );
  const { page } = await open(running.context, file, { width: 360 });
  const found = (await accessibility(page)).join("\n");
  assert.match(found, /color-contrast/);
  assert.match(found, /button-name/);
  assert.ok((await overflow(page)) > 1000);
  await page.close();
});
