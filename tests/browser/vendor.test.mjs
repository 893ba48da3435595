// The libraries in the page are those that were published: the lock file pins the packages by their hashes, and every
// byte of ours is compared with theirs.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { packageFolder } from "./browser.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const vendor = path.join(here, "../../crates/sunprint/src/report/assets/vendor");
const readme = fs.readFileSync(path.join(vendor, "README.md"), "utf8");

for (const [name, version, theirs, ours, licence] of [
  ["d3", "7.9.0", "dist/d3.min.js", "d3.min.js", "d3.LICENSE"],
  ["@observablehq/plot", "0.6.17", "dist/plot.umd.min.js", "plot.umd.min.js", "plot.LICENSE"],
]) {
  test(name + " is what was published", () => {
    const published = (file) => fs.readFileSync(path.join(packageFolder, name, file));
    assert.equal(JSON.parse(published("package.json")).version, version);
    const bytes = fs.readFileSync(path.join(vendor, ours));
    assert.ok(bytes.equals(published(theirs)), ours);
    assert.ok(fs.readFileSync(path.join(vendor, licence)).equals(published("LICENSE")), licence);
    const hash = createHash("sha256").update(bytes).digest("hex");
    const line = readme.split("\n").find((line) => line.startsWith("| `" + name + "` |"));
    assert.ok(line.includes(" " + version + " ") && line.includes(hash), "README.md: " + hash);
    const lock = JSON.parse(fs.readFileSync(path.join(here, "package-lock.json"), "utf8"));
    assert.equal(lock.packages["node_modules/" + name].version, version);
    assert.match(lock.packages["node_modules/" + name].integrity, /^sha512-/);
  });
}

test("nothing else is carried along", () => {
  assert.deepEqual(fs.readdirSync(vendor).sort(), [
    "README.md",
    "d3.LICENSE",
    "d3.min.js",
    "plot.LICENSE",
    "plot.umd.min.js",
  ]);
});
