// Tables: those that stand in the page become sortable, and long lists are made page by page.

/** Rows of a table that are shown at first, and rows on one page of a list. */
const SHOWN = 25;

/** A list for paper has so many rows at most. */
const ON_PAPER = 60;

function compared(a, b) {
  if (a === b) return 0;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** The head of a column as a button; `aria-sort` says which way the column is sorted. */
function sortButton(head, onSort) {
  const button = el("button", { type: "button", class: "sort" });
  button.append(...head.childNodes, el("span", { class: "arrow", "aria-hidden": "true" }));
  button.addEventListener("click", () => onSort(head));
  head.append(button);
}

/** Marks a head as the one that is sorted by, and says whether the order is now descending. */
function turned(heads, head, descendingFirst) {
  const before = head.getAttribute("aria-sort");
  const descending = before ? before === "ascending" : descendingFirst;
  heads.forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  return descending;
}

/** A field to search with; `onSearch` gets the words in small letters. */
function searchField(label, onSearch) {
  const input = el("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  input.addEventListener("input", () => onSearch(input.value.trim().toLowerCase()));
  return el("label", { class: "search" }, el("span", {}, label), input);
}

/** Makes a table of the page sortable; a long one can be searched and shows its first rows until more are asked for. */
function enhanced(table) {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  const rows = Array.from(body.rows);
  if (rows.length < 2) return;
  const by = (row, i) => {
    const cell = row.cells[i];
    return cell.dataset.by === undefined
      ? cell.textContent
      : cell.dataset.by === "-inf"
        ? -Infinity
        : Number(cell.dataset.by);
  };
  let words = "";
  let most = SHOWN;
  const more = el("button", { type: "button", class: "more" });
  const paper = el("p", { class: "paper aside" });
  const show = () => {
    const fitting = words ? rows.filter((row) => row.textContent.toLowerCase().includes(words)) : rows;
    const found = fitting.length;
    body.replaceChildren(...fitting.slice(0, most));
    more.hidden = found <= most;
    more.textContent = "Show all " + count(found) + " rows";
    paper.textContent = found > most ? "On paper: the first " + count(most) + " of " + count(found) + " rows." : "";
    return found;
  };
  heads.forEach((head, i) =>
    sortButton(head, () => {
      const descending = turned(heads, head, head.classList.contains("number"));
      rows.sort((a, b) => (descending ? -1 : 1) * compared(by(a, i), by(b, i)));
      show();
    }),
  );
  const scroll = el("div", { class: "scroll" });
  table.replaceWith(scroll);
  scroll.append(table);
  if (rows.length <= SHOWN) return;
  const status = el("span", { role: "status", class: "status" });
  scroll.before(
    el(
      "div",
      { class: "tools" },
      searchField("Search these rows", (text) => {
        words = text;
        status.textContent = count(show()) + " of " + count(rows.length) + " rows";
      }),
      status,
    ),
  );
  more.addEventListener("click", () => {
    most = Infinity;
    show();
  });
  scroll.after(more, paper);
  show();
}

/**
 * A list page by page: searched by name, sorted by its heads, with a line below that opens for each row.
 *   `columns`: { words, number, by(row), cell(row) }, the first of which is the name
 *   `search`: the label of the field; `text(row)`: what is searched; `detail(row)`: what opens below a row
 */
function list(spec) {
  let rows = spec.rows.slice();
  let first = 0;
  let size = SHOWN;
  let words = "";
  const body = el("tbody");
  const heads = spec.columns.map((column) =>
    el("th", { scope: "col", class: column.number ? "number" : null }, column.words),
  );
  const status = el("span", { role: "status", class: "status" });
  const previous = el("button", { type: "button" }, "Previous");
  const next = el("button", { type: "button" }, "Next");
  const found = () => (words ? rows.filter((row) => spec.text(row).toLowerCase().includes(words)) : rows);
  const line = (row) => {
    const cells = spec.columns.map((column, i) => {
      if (i > 0)
        return el(
          "td",
          { class: column.number ? "number" : column.class || null, "data-head": column.words },
          column.cell(row),
        );
      const button = el("button", { type: "button", class: "name", "aria-expanded": "false" }, column.cell(row));
      return el("th", { scope: "row" }, button, column.below ? column.below(row) : null);
    });
    const shown = el("tr", {}, cells);
    let detail = null;
    cells[0].firstChild.addEventListener("click", (event) => {
      const button = event.currentTarget;
      if (detail) {
        forget(detail);
        detail.remove();
        detail = null;
      } else {
        detail = el("tr", { class: "detail" }, el("td", { colspan: spec.columns.length }, spec.detail(row)));
        shown.after(detail);
      }
      button.setAttribute("aria-expanded", detail ? "true" : "false");
    });
    return shown;
  };
  const show = () => {
    const all = found();
    first = Math.min(first, Math.max(0, Math.floor((all.length - 1) / size) * size));
    const last = Math.min(first + size, all.length);
    forget(body);
    body.replaceChildren(...all.slice(first, last).map(line));
    const of = words ? count(all.length) + " found of " + count(rows.length) : count(rows.length);
    status.textContent = all.length
      ? count(first + 1) + " to " + count(last) + " of " + of
      : "None found of " + count(rows.length);
    previous.disabled = first === 0;
    next.disabled = last >= all.length;
    pages.hidden = all.length <= size;
    paper.textContent = last - first < rows.length ? "On paper: " + status.textContent + "." : "";
  };
  previous.addEventListener("click", () => ((first -= size), show()));
  next.addEventListener("click", () => ((first += size), show()));
  spec.columns.forEach((column, i) => {
    if (!column.by) return;
    sortButton(heads[i], (head) => {
      const descending = turned(heads, head, Boolean(column.number));
      const by = (row) => (column.number && !isNumber(column.by(row)) ? -Infinity : column.by(row));
      rows.sort((a, b) => (descending ? -1 : 1) * compared(by(a), by(b)));
      first = 0;
      show();
    });
    if (column.sorted) heads[i].setAttribute("aria-sort", column.sorted);
  });
  const pages = el("div", { class: "pages" }, previous, next);
  const paper = el("p", { class: "paper aside" });
  const table = el(
    "table",
    { class: "list" },
    el("caption", {}, spec.caption),
    el("thead", {}, el("tr", {}, heads)),
    body,
  );
  const tools = el(
    "div",
    { class: "tools" },
    searchField(spec.search, (text) => {
      words = text;
      first = 0;
      show();
    }),
    status,
  );
  paperWatchers.push((paper) => {
    if (size === (paper ? ON_PAPER : SHOWN)) return;
    size = paper ? ON_PAPER : SHOWN;
    if (found().length > SHOWN) show();
  });
  show();
  return el("div", { class: "listed" }, tools, el("div", { class: "scroll" }, table), pages, paper);
}
