/* Everything that comes from files is shown as text: no string becomes HTML but the rule pages of the package itself,
   which stand in the page as templates. */

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const USES = ["converted", "same", "needs-you", "not-examined"];
const USES_TEXT = ["converted", "the same on both sides", "need you", "not examined"];
const FATE_KINDS = ["conversion", null, "needs_you", "not_examined"]; // what the filter calls them; no list has the second
const SEVERITIES = ["error", "warning", "info"];
const PAGE = 200; // files that are listed at once
const WIDE = matchMedia("(min-width: 1000px)");

const number = (value) => value.toLocaleString("en-US");
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;
const sum = (list) => list.reduce((total, value) => total + value, 0);

/** An element with properties (class, attributes, on… listeners) and children (nodes, text; null is left out). */
function el(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

/** A stacked bar of the four counts; `width` is its share of the room, from 0 to 1. */
function bar(uses, width) {
  const total = sum(uses) || 1;
  const label = USES_TEXT.map((text, n) => `${number(uses[n])} ${text}`).join(", ");
  const node = el("span", { class: "bar", role: "img", "aria-label": label, title: label });
  node.style.width = `${Math.max(width * 100, 1.5)}%`;
  uses.forEach((count, n) => {
    if (!count) return;
    const part = el("i", { class: USES[n] });
    part.style.width = `${(count / total) * 100}%`;
    node.append(part);
  });
  return node;
}

/** How many uses somebody has to look at. */
const left = (uses) => uses[2] + uses[3];

// ---- overview

function showOverview() {
  const names = { torch: "PyTorch", paddle: "PaddlePaddle" };
  $("direction").textContent = `${names[data.source]} → ${names[data.target]}`;
  const modes = {
    report: "report only, no file was changed",
    diff: "report only, no file was changed",
    write: "written in place",
    output: "written to a copy",
    stdin: "written to stdout",
  };
  $("settings").textContent = [modes[data.mode], ...data.options].join(" · ");
  const found = { error: 0, warning: 0, info: 0 };
  let conversions = 0;
  for (const file of data.files) {
    conversions += file.conversions.length;
    for (const finding of file.findings) found[finding[1]]++;
  }
  const share = el("div", { class: "share" }, number(left(data.uses)), el("small", null, `of ${plural(sum(data.uses), "use")} left to do`));
  const legend = el("ul", { class: "legend" });
  USES.forEach((name, n) => {
    const text = [el("i", { class: name }), el("b", null, number(data.uses[n])), ` ${USES_TEXT[n]}`];
    const kind = FATE_KINDS[n];
    legend.append(el("li", null, kind ? el("button", { class: "plain", type: "button", onclick: () => filterBy({ kind }) }, text) : text));
  });
  const about = el("div", null, bar(data.uses, 1), legend);
  if (sum(data.uses)) $("coverage").append(share, about);
  const change = data.applied ? "converted" : "to convert";
  const tiles = [
    [data.counts.scanned, "file", "scanned", "all", ""],
    [data.counts.converted, "file", change, "conversion", ""],
    [conversions, "use", change, "conversion", ""],
    [found.error, "error", "", "error", "error"],
    [found.warning, "warning", "", "warning", "warning"],
    [found.info, "note", "", "info", "info"],
    [data.counts.unsafe, "finding", "for --unsafe", "unsafe", ""],
    [data.counts.failed, "file", "failed", "failed", "error"],
  ];
  for (const [count, noun, verb, kind, style] of tiles) {
    const text = `${noun}${count === 1 ? "" : "s"} ${verb}`;
    const go = () => filterBy({ kind });
    $("tiles").append(el("button", { class: `tile ${count ? style : ""}`, type: "button", onclick: go },
      el("b", null, number(count)), el("span", null, text)));
  }
  const known = data.counts.known; // they are in no list: the baseline is there so that nobody has to look at them
  if (known) $("notes").append(el("li", null, `${plural(known, "known finding")} of the baseline not shown.`));
  for (const note of data.notes) $("notes").append(el("li", null, note.message, ...(note.code ? [" ", el("a", { href: `#code-${note.code}` }, note.code)] : [])));
}

// ---- APIs and codes

function table(heads, rows) {
  const head = el("tr", null, heads.map((text, n) => el("th", { scope: "col", class: n ? "number" : null }, text)));
  return el("table", { class: "list" }, el("thead", null, head), el("tbody", null, rows));
}

function showApis() {
  const names = data.names.filter((entry) => entry[3] + entry[4]);
  if (!names.length) { $("api-table").append(el("p", null, "None.")); return; }
  names.sort((a, b) => b[3] + b[4] - a[3] - a[4]);
  const rows = names.slice(0, 1000).map(([name, converted, same, needsYou, notExamined]) =>
    el("tr", null,
      el("td", { class: "name" }, name || "code that could not be read"),
      ...[needsYou, notExamined, converted, same].map((count) => el("td", { class: "number" }, count ? number(count) : ""))));
  $("api-table").append(table(["API", "need you", "not examined", "converted", "same"], rows));
  if (names.length > rows.length) $("api-table").append(el("p", null, `and ${number(names.length - rows.length)} more names`));
}

function showPackages() {
  if (!data.packages.length) { $("packages").hidden = true; return; }
  const rows = data.packages.map(([name, needed, maybe, hint]) => {
    const cell = (count, code) => el("td", { class: "number" }, !count ? ""
      : el("button", { class: "plain", type: "button", onclick: () => filterBy({ query: name, code }) }, plural(count, "file")));
    return el("tr", null, el("td", { class: "name" }, name), cell(needed, "API244"), cell(maybe, "API245"), el("td", null, hint));
  });
  const heads = ["Package", "needed in", "under a condition in", "What to do"].map((text, n) =>
    el("th", { scope: "col", class: n === 1 || n === 2 ? "number" : null }, text));
  $("package-table").append(el("table", { class: "list wide-last" }, el("thead", null, el("tr", null, heads)), el("tbody", null, rows)));
}

function codeCounts() {
  const counts = new Map();
  const entry = (code) => {
    if (!counts.has(code)) counts.set(code, { error: 0, warning: 0, info: 0, conversion: 0, files: 0, last: null });
    return counts.get(code);
  };
  for (const file of data.files) {
    const note = (code, key) => {
      const found = entry(code);
      found[key]++;
      if (found.last !== file) { found.last = file; found.files++; }
    };
    for (const finding of file.findings) note(finding[0], finding[1]);
    for (const conversion of file.conversions) note(conversion[0], "conversion");
  }
  return counts;
}

function chips(counts) {
  return [...SEVERITIES, "conversion"].filter((key) => counts[key])
    .map((key) => el("span", { class: `chip ${key}` }, plural(counts[key], key === "info" ? "note" : key)));
}

function explainWhenOpen(node, code) {
  node.addEventListener("toggle", () => {
    if (!node.open || node.children.length > 1) return;
    const page = $(`help-${code}`);
    const text = page ? page.content.cloneNode(true) : el("p", null, "This code comes from a table of your own.");
    node.append(el("div", { class: "help" }, el("p", { class: "about" }, `Applicability: ${data.codes[code].applicability}`), text));
  });
}

function showCodes() {
  const counts = codeCounts();
  const weight = (code) => { const c = counts.get(code); return [c.error ? 3 : c.warning ? 2 : c.info ? 1 : 0, c.error + c.warning + c.info + c.conversion]; };
  const codes = [...counts.keys()].sort((a, b) => weight(b)[0] - weight(a)[0] || weight(b)[1] - weight(a)[1] || (a < b ? -1 : 1));
  for (const code of codes) {
    const about = data.codes[code];
    const count = counts.get(code);
    const node = el("details", { id: `code-${code}` },
      el("summary", null, el("span", { class: "code" }, code), el("span", { class: "title" }, about.title), ...chips(count)));
    const files = el("button", { class: "plain", type: "button", onclick: () => filterBy({ code }) },
      plural(count.files, "file"), el("span", { class: "hidden" }, ` with ${code}`));
    explainWhenOpen(node, code);
    $("code-list").append(el("div", { class: "code-row" }, node, files));
  }
  const others = Object.keys(data.codes).filter((code) => !counts.has(code));
  if (others.length) {
    const more = el("details", { id: "more-codes" }, el("summary", null, el("span", { class: "title" },
      `${plural(others.length, "more code")} that these explanations name`)));
    for (const code of others) {
      const node = el("details", { id: `code-${code}` },
        el("summary", null, el("span", { class: "code" }, code), el("span", { class: "title" }, data.codes[code].title)));
      explainWhenOpen(node, code);
      more.append(el("div", { class: "code-row" }, node));
    }
    $("code-list").append(el("div", { class: "code-row" }, more));
  }
  for (const code of [...codes].sort()) $("code").append(el("option", { value: code }, `${code}  ${data.codes[code].title}`));
}

/** Opens the explanation, or sets the filter, that a link leads to. */
function openTarget() {
  if (isFilter(location.hash)) {
    readFilter();
    applyFilter();
    $("files").scrollIntoView();
    return;
  }
  const node = location.hash.startsWith("#code-") ? document.getElementById(location.hash.slice(1)) : null;
  if (!node) return;
  for (let above = node; above; above = above.parentElement) if (above.tagName === "DETAILS") above.open = true;
  node.scrollIntoView();
}

// ---- filter

const FIELDS = ["query", "path", "kind", "code"];
let listed = [];
let shown = 0;

const isFilter = (hash) => /^#(query|path|kind|code)=/.test(hash);

/** Sets the filter by the address; a value that a list does not have stands for all. */
function readFilter() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const id of FIELDS) {
    const field = $(id);
    field.value = given.get(id) || "";
    if (field.tagName === "SELECT" && field.selectedIndex < 0) field.selectedIndex = 0;
  }
}

/** Puts the filter into the address, so that a link leads to what is shown; no step back is made of it. */
function keepFilter() {
  const given = new URLSearchParams();
  for (const id of FIELDS) if ($(id).value && $(id).value !== "all") given.set(id, $(id).value);
  const text = given.toString();
  if (!text && !isFilter(location.hash)) return;
  try { history.replaceState(null, "", text ? `#${text}` : location.href.replace(/#.*/, "")); } catch { /* a page without an address */ }
}

function wanted() {
  return {
    query: $("query").value.trim().toLowerCase(),
    path: $("path").value.trim().toLowerCase(),
    kind: $("kind").value,
    code: $("code").value,
  };
}

function holds(query, texts) {
  return !query || texts.some((text) => text.toLowerCase().includes(query));
}

/** The findings and conversions of a file that the filter lets through; null if the file is not to be listed. */
function matching(file, want) {
  if (want.path && !file.path.toLowerCase().includes(want.path)) return null;
  if (want.kind === "failed" && file.status !== "failed") return null;
  const whole = want.query && file.path.toLowerCase().includes(want.query);
  const query = whole ? "" : want.query;
  const findings = want.kind === "conversion" ? [] : file.findings.filter(([code, severity, applicability, , , , message, hint, name, fate]) =>
    (!want.code || code === want.code)
    && (!SEVERITIES.includes(want.kind) || severity === want.kind)
    && (want.kind !== "left" || fate)
    && (!["needs_you", "not_examined"].includes(want.kind) || fate === want.kind)
    && (want.kind !== "unsafe" || applicability === "unsafe")
    && holds(query, [code, message, hint, name]));
  const conversions = !["all", "conversion"].includes(want.kind) ? [] : file.conversions.filter(([code, , , , name, replacement]) =>
    (!want.code || code === want.code) && holds(query, [code, name, replacement]));
  const free = !want.query && !want.code && want.kind === "all";
  if (!findings.length && !conversions.length && !free && !(whole && !want.code && want.kind === "all")) return null;
  return { file, findings, conversions };
}

function applyFilter() {
  const want = wanted();
  listed = data.files.map((file) => matching(file, want)).filter(Boolean);
  const findings = sum(listed.map((match) => match.findings.length));
  const conversions = sum(listed.map((match) => match.conversions.length));
  $("found").textContent = `${plural(findings, "finding")} and ${plural(conversions, "conversion")} in ${number(listed.length)} of ${plural(data.files.length, "file")}.`;
  $("file-list").replaceChildren();
  shown = 0;
  showMore();
}

/** Shows the files that one value of the filter lets through; `open` opens the first. */
function filterBy(values, open = false) {
  $("filter").reset();
  for (const [id, value] of Object.entries(values)) $(id).value = value;
  filterChanged();
  if (open && $("file-list").firstChild) $("file-list").firstChild.open = true;
  $("files").scrollIntoView();
  $("query").focus({ preventScroll: true });
}

function filterChanged() {
  applyFilter();
  keepFilter();
}

function showMore() {
  const next = listed.slice(shown, shown + PAGE);
  shown += next.length;
  $("file-list").append(...next.map(fileRow));
  $("more").hidden = shown >= listed.length;
  $("more").textContent = `Show ${number(Math.min(PAGE, listed.length - shown))} more of ${number(listed.length - shown)} files`;
}

// ---- one file

function fileRow(match) {
  const { file } = match;
  const cut = file.path.lastIndexOf("/") + 1;
  const counts = { error: 0, warning: 0, info: 0, conversion: match.conversions.length };
  for (const finding of match.findings) counts[finding[1]]++;
  const path = el("span", { class: "path" }, el("span", null, file.path.slice(0, cut)), file.path.slice(cut));
  const failed = file.status === "failed" ? el("span", { class: "chip failed" }, "failed") : null;
  const node = el("details", { class: "file" }, el("summary", null, path, failed, ...chips(counts)));
  node.addEventListener("toggle", () => { if (node.open && node.children.length === 1) openFile(node, match); });
  return node;
}

function openFile(node, match) {
  const { file } = match;
  const rows = new Map(); // "cell:old line" -> row of the diff
  const body = el("div", null);
  const go = (cell, line) => () => {
    const row = rows.get(`${cell}:${line}`);
    if (!row) return;
    for (const other of body.querySelectorAll(".target")) other.classList.remove("target");
    row.classList.add("target");
    row.scrollIntoView({ block: "center" });
  };
  const at = (cell, line, column) => el("button", { class: "plain", type: "button", onclick: go(cell, line) },
    line ? `${cell ? `cell ${cell}:` : ""}${line}:${column}` : "file");
  const codeLink = (code, style) => el("a", { class: `code ${style}`, href: `#code-${code}` }, code);
  if (match.findings.length) {
    body.append(el("details", { class: "items", open: true }, el("summary", null, plural(match.findings.length, "finding")),
      match.findings.map(([code, severity, applicability, cell, line, column, message, hint]) =>
        el("div", { class: "item" }, at(cell, line, column), codeLink(code, `${severity}-text`),
          el("span", { class: "message" }, el("span", { class: "hidden" }, `${severity}: `), message,
            applicability === "unsafe" ? " [--unsafe converts it]" : "", hint ? el("span", { class: "hint" }, hint) : null)))));
  }
  if (match.conversions.length) {
    body.append(el("details", { class: "items" }, el("summary", null, plural(match.conversions.length, "conversion")),
      match.conversions.map(([code, cell, line, column, name, replacement]) =>
        el("div", { class: "item" }, at(cell, line, column), codeLink(code, ""), el("span", { class: "message" }, `${name} → ${replacement}`)))));
  }
  if (file.diff === null) body.append(el("p", { class: "about" }, "The diff of this file was left out: the page holds no more. paddletorch convert --diff shows it."));
  const place = el("div", null);
  const draw = () => { rows.clear(); place.replaceChildren(...diffOf(file, rows)); };
  if (typeof file.diff === "number") { draw(); place.redraw = draw; place.classList.add("diff-place"); }
  node.append(body, place);
}

// ---- diffs

function isSplit(file) {
  const layout = $("layout").value;
  return file.status === "converted" && (layout === "split" || (layout === "auto" && WIDE.matches));
}

function diffOf(file, rows) {
  const hunks = JSON.parse($(`diff-${file.diff}`).textContent);
  if (!hunks.length) return [];
  const split = isSplit(file);
  const changes = file.status === "converted";
  const notes = new Map();
  for (const finding of file.findings) {
    const place = `${finding[3]}:${finding[4]}`;
    if (!notes.has(place)) notes.set(place, []);
    notes.get(place).push(finding);
  }
  const width = split ? 4 : changes ? 3 : 2;
  const columns = split ? ["number", "", "number", ""] : changes ? ["number", "number", ""] : ["number", ""];
  const body = el("tbody", null);
  let cell = 0;
  const add = (oldLine, ...cells) => {
    const row = el("tr", null, cells);
    body.append(row);
    if (!oldLine) return;
    const place = `${cell}:${oldLine}`;
    if (!rows.has(place)) rows.set(place, row);
    for (const [code, severity, , , , , message] of notes.get(place) || []) {
      body.append(el("tr", { class: `note ${severity}` }, el("td", { colspan: width },
        el("a", { class: `code ${severity}-text`, href: `#code-${code}` }, code), ` ${message}`)));
    }
  };
  for (const [inCell, oldStart, newStart, ...blocks] of hunks) {
    let [oldLine, newLine] = [oldStart, newStart];
    cell = inCell;
    const gap = `${cell ? `cell ${cell}, ` : ""}line ${number(oldStart)}`;
    if (cell || body.children.length || oldStart > 1) body.append(el("tr", { class: "gap" }, el("td", { colspan: width }, gap)));
    for (const [old, fresh] of blocks) {
      if (fresh === 0) {
        for (const line of old) {
          const middle = split ? [no(oldLine), code(line, "left"), no(newLine), code(line, "")]
            : changes ? [no(oldLine), no(newLine), code(line, "")] : [no(oldLine), code(line, "")];
          add(oldLine++, ...middle);
          newLine++;
        }
      } else if (split) {
        for (let n = 0; n < Math.max(old.length, fresh.length); n++) {
          const marks = n < old.length && n < fresh.length ? differ(old[n], fresh[n]) : null;
          const left = n < old.length ? [no(oldLine), code(old[n], "left removed", marks && marks[0])] : [no(""), el("td", { class: "left" })];
          const right = n < fresh.length ? [no(newLine), code(fresh[n], "added", marks && marks[1])] : [no(""), el("td", null)];
          add(n < old.length ? oldLine++ : 0, ...left, ...right);
          if (n < fresh.length) newLine++;
        }
      } else {
        const marks = old.map((line, n) => (n < fresh.length ? differ(line, fresh[n]) : null));
        old.forEach((line, n) => add(oldLine++, no(oldLine - 1), no(""), code(line, "removed", marks[n] && marks[n][0])));
        fresh.forEach((line, n) => add(0, no(""), no(newLine++), code(line, "added", marks[n] && marks[n][1])));
      }
    }
  }
  const heads = split ? ["Line", "Before", "Line", "After"] : changes ? ["Line before", "Line after", "Code"] : ["Line", "Code"];
  const head = el("thead", { class: "hidden" }, el("tr", null, heads.map((text) => el("th", { scope: "col" }, text))));
  const layout = el("colgroup", null, columns.map((name) => el("col", { class: name || null })));
  return [el("div", { class: "diff" }, el("table", { "aria-label": `Changes and findings in ${file.path}` }, layout, head, body))];
}

function no(line) {
  return line ? el("th", { class: "number", scope: "row" }, String(line)) : el("td", { class: "number" });
}

const textOf = (line) => line.map((run) => (typeof run === "string" ? run : run[1])).join("");

/** Where two lines differ, as [start, end) in each: what is left without the common start and end. */
function differ(old, fresh) {
  const [a, b] = [textOf(old), textOf(fresh)];
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  if (start + end < most / 4) return null; // hardly alike: marking nearly all of it helps nobody
  return [[start, a.length - end], [start, b.length - end]];
}

function code(line, style, mark = null) {
  const cell = el("td", { class: style || null });
  if (style.includes("removed")) cell.append(el("span", { class: "hidden" }, "removed: "));
  if (style.includes("added")) cell.append(el("span", { class: "hidden" }, "added: "));
  if (!line.length) cell.append("\u200b");
  let position = 0;
  for (const run of line) {
    const [name, text] = typeof run === "string" ? ["", run] : run;
    const cuts = mark ? [mark[0] - position, mark[1] - position].map((at) => Math.min(Math.max(at, 0), text.length)) : [0, 0];
    for (const [part, marked] of [[text.slice(0, cuts[0]), false], [text.slice(cuts[0], cuts[1]), true], [text.slice(cuts[1]), false]]) {
      if (!part) continue;
      const node = name ? el("span", { class: name }, part) : document.createTextNode(part);
      cell.append(marked ? el("mark", null, node) : node);
    }
    position += text.length;
  }
  return cell;
}

function redraw() {
  for (const place of document.querySelectorAll(".diff-place")) place.redraw();
}

// ---- theme

function showTheme() {
  const chosen = $("theme").value;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen === "auto" ? (dark ? "dark" : "light") : chosen;
}

function keepTheme() {
  showTheme();
  try { localStorage.setItem("paddletorch-theme", $("theme").value); } catch { /* no storage here: it holds for this visit */ }
}

function start() {
  try { $("theme").value = localStorage.getItem("paddletorch-theme") || "auto"; } catch { /* as above */ }
  if (!$("theme").value) $("theme").value = "auto";
  showTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  $("theme").addEventListener("change", keepTheme);
  showOverview();
  showFolders();
  showApis();
  showPackages();
  showCodes();
  applyFilter();
  let waiting = 0;
  $("filter").addEventListener("input", (event) => {
    if (event.target.id === "layout") return;
    clearTimeout(waiting);
    waiting = setTimeout(filterChanged, 120);
  });
  $("filter").addEventListener("submit", (event) => event.preventDefault());
  $("clear").addEventListener("click", () => { $("filter").reset(); filterChanged(); });
  $("layout").addEventListener("change", redraw);
  WIDE.addEventListener("change", redraw);
  $("more").addEventListener("click", showMore);
  addEventListener("hashchange", openTarget);
  openTarget();
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    $("query").focus();
  });
  const out = data.files.filter((file) => file.diff === null).length;
  $("limits").textContent = [
    `Made by paddletorch ${data.version}.`,
    "Diffs show 3 lines around each change and finding, and 500 characters of a line.",
    "Positions are those of the text before conversion.",
    out ? `The page holds no more diffs: ${plural(out, "file")} ${out === 1 ? "is" : "are"} listed without.` : "",
    "Signs that cannot be seen, or that turn the text around them, are shown as symbols.",
  ].filter(Boolean).join(" ");
}

start();
