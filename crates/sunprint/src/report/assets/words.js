// The numbers of the page, elements, and how numbers are spelt. Text from the data is only ever set as text.

const page = JSON.parse(document.getElementById("numbers").textContent);

/** An element with attributes and children; a string becomes text, never markup. */
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A name from the data, whichever way it is written. */
function named(text) {
  return el("bdi", {}, text);
}

/** The same within a plain string: between signs that keep its direction to itself. */
function isolated(text) {
  return "\u2068" + text + "\u2069";
}

/** A name that is short enough for an axis. */
function shortened(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : letters.slice(0, most - 1).join("") + "…";
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function withCommas(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

function withMinus(text) {
  return text === "-0" ? "0" : text.replace("-", "−");
}

/** Three significant digits. */
function figure(value) {
  if (!isNumber(value)) return "–";
  if (value === 0) return "0";
  const [digits, exponent] = value.toExponential(2).split("e");
  const power = Number(exponent);
  if (power >= -4 && power <= 2) {
    const text = value.toFixed(2 - power);
    return withMinus(text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  }
  if (power >= 3 && power <= 6) return withMinus(withCommas(value.toFixed(0)));
  return withMinus(digits.replace(/\.00$/, "")) + "·10" + raised(power);
}

/** An exponent. */
function raised(power) {
  return Array.from(String(power), (letter) => (letter === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(letter)])).join("");
}

/** With its sign, for differences. */
function signed(value) {
  return isNumber(value) && value > 0 ? "+" + figure(value) : figure(value);
}

/** A part of a whole in per cent. */
function percent(share) {
  if (!isNumber(share)) return "–";
  const whole = share * 100;
  if (whole === 0 || Math.abs(whole) >= 9.995) return withMinus(whole.toFixed(0)) + " %";
  return (Math.abs(whole) >= 0.095 ? withMinus(whole.toFixed(1)) : figure(whole)) + " %";
}

/** A whole number with commas. */
function count(number) {
  return withCommas(String(number));
}

/** A place on a column's line, as its scale spells it: days and seconds since 1970 for dates. */
function spelt(value, scale) {
  if (!isNumber(value)) return "–";
  if (scale !== "date" && scale !== "datetime") return figure(value);
  const moment = new Date(scale === "date" ? value * 86400000 : value * 1000);
  if (Number.isNaN(moment.getTime())) return figure(value);
  const text = moment.toISOString();
  return scale === "date" ? text.slice(0, text.indexOf("T")) : text.slice(0, -8).replace("T", " ");
}

/** The same without the time of the day, where there is little room. */
function speltShort(value, scale) {
  return scale === "datetime" ? spelt(value, scale).slice(0, -6) : spelt(value, scale);
}

/** A length on a column's line; that of dates is in days. */
function span(value, scale) {
  if (scale === "date") return figure(value) + " days";
  return scale === "datetime" ? figure(value / 86400) + " days" : figure(value);
}

/** A description list of names and values. */
function facts(pairs, attributes) {
  return el(
    "dl",
    attributes || { class: "facts" },
    pairs.map(([name, what]) => el("div", {}, el("dt", {}, name), el("dd", {}, what))),
  );
}

/** What the two tables look like in charts. The forms differ, not only the colours. */
function legend(public_) {
  const entry = (kind, words) => el("li", {}, el("span", { class: "swatch " + kind, "aria-hidden": "true" }), words);
  return el(
    "ul",
    { class: "legend" },
    public_ ? null : entry("real", "real: outline"),
    entry("synthetic", public_ ? "release: filled" : "synthetic: filled"),
  );
}
