"use strict";

/* The map of folders and files: boxes within boxes, as large as their uses. Nothing in it scrolls, and no space is left. */

const READABLE = 4500; // square pixels of a box that has room for a short name
const WIDER = 2; // how many times as wide as high boxes are at best, for names
const FOLDER_HEAD = 20; // pixels above what is in a folder
const FOLDER_EDGE = 2; // pixels around it
const TINT = [10, 45]; // percent of colour in a box where one use is left, and where all are: more would hide its text

/** Folders with their uses; a chain of folders with nothing beside them is one. */
function folderTree() {
  const folderOf = (name, path) => ({ name, path, uses: [0, 0, 0, 0], folders: new Map(), files: [] });
  const root = folderOf("", "");
  for (const file of data.files) {
    if (!sum(file.uses)) continue;
    const parts = file.path.split("/");
    let folder = root;
    const chain = [root];
    for (const part of parts.slice(0, -1)) {
      if (!folder.folders.has(part)) folder.folders.set(part, folderOf(part, `${folder.path}${part}/`));
      folder = folder.folders.get(part);
      chain.push(folder);
    }
    folder.files.push({ name: parts[parts.length - 1], path: file.path, uses: file.uses });
    for (const above of chain) file.uses.forEach((count, n) => { above.uses[n] += count; });
  }
  return finished(root);
}

/** A folder as the map draws it: its name ends with a slash, and ``items`` has what is in it, the largest first. */
function finished(folder) {
  let [inner, name] = [folder, folder.name && `${folder.name}/`];
  while (inner.folders.size === 1 && !inner.files.length) {
    [inner] = inner.folders.values();
    name += `${inner.name}/`;
  }
  const items = [...[...inner.folders.values()].map(finished), ...inner.files];
  return { name, path: inner.path, uses: inner.uses, items: items.sort((a, b) => sum(b.uses) - sum(a.uses)) };
}

/** What is drawn of a folder in so many square pixels: the largest items, and one that stands for all others. */
function drawn(folder, area) {
  const most = Math.max(Math.floor(area / READABLE / 2), 1);
  if (folder.items.length <= most + 1) return folder.items;
  const others = folder.items.slice(most);
  const uses = folder.uses.map((_, n) => sum(others.map((item) => item.uses[n])));
  return [...folder.items.slice(0, most), { name: `${number(others.length)} more`, path: folder.path, uses, items: others }];
}

/** Boxes for sizes, the largest first, that fill a box and are nearly square (Bruls, Huizing, van Wijk 2000). */
function squarified(sizes, { x, y, width, height }) {
  const boxes = [];
  let rest = sum(sizes);
  for (let start = 0, end = 0; start < sizes.length; start = end) {
    const side = Math.min(width, height);
    const scale = (width * height) / rest;
    let [row, worst] = [0, Infinity];
    for (; end < sizes.length; end++) {
      const thick = ((row + sizes[end]) * scale) / side;
      const [longest, shortest] = [sizes[start], sizes[end]].map((size) => (size * scale) / thick);
      const ratio = Math.max(longest / thick, thick / shortest);
      if (ratio > worst) break;
      row += sizes[end];
      worst = ratio;
    }
    const thick = (row * scale) / side;
    const upright = width >= height; // the row goes down the left side, else along the top
    let at = 0;
    for (const size of sizes.slice(start, end)) {
      const long = (size / row) * side;
      boxes.push(upright ? { x, y: y + at, width: thick, height: long } : { x: x + at, y, width: long, height: thick });
      at += long;
    }
    if (upright) { x += thick; width -= thick; } else { y += thick; height -= thick; }
    rest -= row;
  }
  return boxes;
}

function leftText(uses) {
  return left(uses) ? `${number(left(uses))} of ${number(sum(uses))} left` : `none of ${number(sum(uses))} left`;
}

function place(node, { x, y, width, height }) {
  for (const [key, value] of Object.entries({ left: x, top: y, width, height })) node.style[key] = `${value}px`;
  return node;
}

/** What is in a folder, drawn into a box; `enter` shows one folder alone. */
function boxesOf(folder, box, enter) {
  const items = drawn(folder, box.width * box.height);
  const all = sum(folder.uses);
  const least = Math.min((all * READABLE) / (box.width * box.height), all / items.length); // what is smaller is drawn as large as this
  const sized = items.map((item) => [Math.max(sum(item.uses), least), item]).sort((a, b) => b[0] - a[0]);
  const boxes = squarified(sized.map(([size]) => size), { ...box, x: 0, width: box.width / WIDER });
  return sized.map(([, item], n) => boxOf(item, { ...boxes[n], x: box.x + boxes[n].x * WIDER, width: boxes[n].width * WIDER }, enter));
}

function boxOf(item, box, enter) {
  const own = item.path.endsWith(item.name); // not one that stands for several
  const label = `${item.path}${own ? "" : ` ${item.name}`}: ${leftText(item.uses)}`;
  const go = item.items ? () => enter(item) : () => filterBy({ path: item.path }, true);
  const about = { type: "button", title: label, "aria-label": label, onclick: go };
  const name = el("span", { class: "name" }, item.name);
  const inside = { x: FOLDER_EDGE, y: FOLDER_HEAD, width: box.width - 2 * FOLDER_EDGE - 2, height: box.height - FOLDER_HEAD - FOLDER_EDGE - 2 };
  const room = Math.min(inside.width, inside.height) >= FOLDER_HEAD && inside.width * inside.height >= 2 * READABLE;
  if (item.items && own && room) {
    return place(el("div", { class: "box folder" }, el("button", { class: "head", ...about }, name), boxesOf(item, inside, enter)), box);
  }
  const count = left(item.uses) && box.height >= 42 ? el("span", { class: "count" }, `${number(left(item.uses))} left`) : null;
  const node = el("button", { class: "box", ...about }, name, count, bar(item.uses, 1));
  const tint = left(item.uses) && TINT[0] + ((TINT[1] - TINT[0]) * left(item.uses)) / sum(item.uses);
  node.style.setProperty("--left", `${tint}%`);
  return place(node, box);
}

function showFolders() {
  const root = folderTree();
  if (!sum(root.uses)) { $("folders").hidden = true; return; }
  const map = $("folder-map");
  map.classList.toggle("many", data.files.length > 4);
  let chain = [root];
  const draw = () => map.replaceChildren(...boxesOf(chain[chain.length - 1],
    { x: 0, y: 0, width: map.clientWidth, height: map.clientHeight }, enter));
  const enter = (folder) => {
    open([...chain, folder]);
    $("folder-path").querySelector("button").focus();
  };
  const open = (folders) => {
    chain = folders;
    const here = chain[chain.length - 1];
    const above = chain.slice(0, -1).map((folder, n) => [el("button", { class: "plain", type: "button",
      onclick: () => open(chain.slice(0, n + 1)) }, folder.name || "all"), "›"]);
    const files = el("button", { class: "plain", type: "button", onclick: () => filterBy({ path: here.path }) }, "list its files");
    $("folder-path").replaceChildren(...above.flat(), here.name, ...(chain.length > 1 ? ["·", files] : []));
    draw();
  };
  open(chain);
  new ResizeObserver(draw).observe(map);
}
