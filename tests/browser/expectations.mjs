// What a page of a name is held to beyond what holds for all pages: bytes at most, and charts that each panel must have.
// Whoever adds a page of a real report adds a line.

const WHOLE = ["privacy", "distances", "columns", "correlations", "plane", "spectrum", "learning", "strata"];
const PUBLIC = ["privacy", "correlations", "plane", "spectrum", "predicted"];
const MEGABYTE = 1_000_000;

export const expectations = {
  demo: { bytes: MEGABYTE, charts: WHOLE },
  "wide-100": { bytes: 3 * MEGABYTE, charts: WHOLE },
  "wide-200": { bytes: 4 * MEGABYTE, charts: WHOLE },
  "wide-1000": { bytes: 10 * MEGABYTE, charts: WHOLE },
  public: { bytes: MEGABYTE, charts: PUBLIC },
  "public-wide": { bytes: 10 * MEGABYTE, charts: PUBLIC },
  hostile: { bytes: MEGABYTE, charts: WHOLE },
  "hostile-public": { bytes: MEGABYTE, charts: PUBLIC },
  empty: { bytes: 700_000, charts: [] },
  "real-demo": { bytes: MEGABYTE, charts: WHOLE },
  "real-demo-public": { bytes: MEGABYTE, charts: PUBLIC },
  "real-wide": { bytes: 4 * MEGABYTE, charts: WHOLE },
  "real-wide-public": { bytes: 4 * MEGABYTE, charts: PUBLIC },
};

/** For every other page. */
export const otherwise = { bytes: 10 * MEGABYTE, charts: [] };
