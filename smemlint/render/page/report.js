"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const NS = "http://www.w3.org/2000/svg";
  const el = (name, text, attributes) => {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    for (const key in attributes || {}) made.setAttribute(key, attributes[key]);
    return made;
  };
  const shape = (name, attributes, text) => {
    const made = document.createElementNS(NS, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const CELL = 19, ROW = 16, LEFT = 42;

  function drawing(map) {
    const svg = shape("svg", {
      class: "map", role: "img", "data-wavefronts": map.passes.length, "data-ideal": map.ideal,
      "data-warp": map.warp, "data-visit": map.visit,
    });
    const width = LEFT + 32 * CELL + 60;
    for (let bank = 0; bank < 32; bank++)
      svg.append(shape("text", { x: LEFT + (bank + 0.5) * CELL, y: 10, class: "n d" }, bank));
    svg.append(shape("text", { x: 0, y: 10, class: "d" }, "bank"));
    let y = 15, before = "";
    const busy = new Set(map.conflicted);
    map.passes.forEach((pass, number) => {
      if (pass.phase !== before) {
        before = pass.phase;
        if (before) { svg.append(shape("text", { x: LEFT, y: y + 11, class: "d" }, before)); y += 15; }
      }
      svg.append(shape("text", { x: 0, y: y + 11, class: "d" }, "w" + number));
      const taken = new Map(pass.served.map((each) => [each[0], each]));
      const lanes = new Set();
      for (let bank = 0; bank < 32; bank++) {
        const x = LEFT + bank * CELL;
        const box = shape("rect", { x: x, y: y, width: CELL - 1, height: ROW - 1, rx: 2 });
        const each = taken.get(bank);
        if (!each) { svg.append(box); continue; }
        each[2].forEach((lane) => lanes.add(lane));
        const group = shape("g", {
          class: busy.has(bank) ? "busy" : "free", "data-wavefront": number, "data-bank": bank,
          "data-word": each[1], "data-lanes": each[2].join(" "),
        });
        const who = (each[2].length > 1 ? "lanes " : "lane ") + each[2].join(", ");
        group.append(shape("title", {}, `wavefront ${number}, bank ${bank}, word ${each[1]}: ${who}`), box);
        const label = each[2][0] + (each[2].length > 1 ? "+" : "");
        group.append(shape("text", { x: x + CELL / 2, y: y + 11, class: "n" }, label));
        svg.append(group);
      }
      svg.append(shape("text", { x: LEFT + 32 * CELL + 6, y: y + 11, class: "d" },
        lanes.size + (lanes.size === 1 ? " lane" : " lanes")));
      y += ROW;
    });
    svg.setAttribute("viewBox", `0 0 ${width} ${y + 2}`);
    return svg;
  }

  function slider(name, values, chosen, change) {
    if (values.length < 2) return null;
    const label = el("label", name + " ");
    const range = el("input", null, { type: "range", min: 0, max: values.length - 1, step: 1,
      value: values.indexOf(chosen), "aria-label": name });
    const shown = el("output", chosen);
    range.addEventListener("input", () => { shown.textContent = values[range.value]; change(values[range.value]); });
    label.append(range, shown);
    return label;
  }

  function side(title, strip, frame) {
    const box = el("div");
    box.append(el("h3", title));
    strip.facts.forEach((line) => box.append(el("p", line, { class: "dim" })));
    const holder = el("div", null, { class: "scroll" });
    const said = el("p");
    box.append(said, holder);
    box.draw = (warp, visit) => {
      const at = strip.frames[warp + ":" + visit];
      const map = at === undefined || at < 0 ? null : strip.maps[at];
      holder.textContent = "";
      if (!map) {
        said.textContent = at === undefined ? `warp ${warp} makes no request at iteration ${visit}`
          : "the map of this request is not kept in the page: `smemlint banks` draws it";
        return;
      }
      said.textContent = map.said;
      holder.append(drawing({ ...map, warp: warp, visit: visit }));
      map.remarks.forEach((line) => holder.append(el("p", line, { class: "dim" })));
    };
    box.draw(frame.warp, frame.visit);
    return box;
  }

  function exhibit(each) {
    const box = el("div", null, { class: "exhibit" });
    box.append(el("h3", each.title));
    if (!each.now.maps.length) {
      each.now.facts.forEach((line) => box.append(el("p", line, { class: "dim" })));
      box.append(el("p", each.now.no_map || "no map"));
      return box;
    }
    const frame = { warp: each.now.first[0], visit: each.now.first[1] };
    const sides = [side("as written", each.now, frame)];
    if (each.after && each.after.maps.length) sides.push(side("with the fix " + each.fix, each.after, frame));
    const redraw = () => sides.forEach((one) => one.draw(frame.warp, frame.visit));
    const keys = Object.keys(each.now.frames).map((key) => key.split(":").map(Number));
    const sorted = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);
    const controls = el("div", null, { class: "controls" });
    const warps = slider("warp", sorted(keys.map((k) => k[0])), frame.warp, (n) => { frame.warp = n; redraw(); });
    const visits = slider("iteration", sorted(keys.map((k) => k[1])), frame.visit, (n) => { frame.visit = n; redraw(); });
    if (warps) controls.append(warps);
    if (visits) controls.append(visits);
    const pair = el("div", null, { class: "pair" });
    pair.append(...sides);
    box.append(controls, pair);
    if (!each.after && each.words) box.append(el("p", "fix: " + each.words, { class: "dim" }));
    return box;
  }

  function toggle(button) {
    const row = button.closest("tr");
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) { row.nextElementSibling.remove(); return; }
    const shown = el("tr");
    const cell = el("td", null, { class: "show", colspan: 3 });
    button.dataset.at.split(" ").forEach((at) => cell.append(exhibit(data.exhibits[at])));
    shown.append(cell);
    row.after(shown);
  }

  function openTarget() {
    const row = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!row) return;
    const file = row.closest("details");
    if (file) file.open = true;
    const button = row.querySelector("button[data-at]");
    if (button && button.getAttribute("aria-expanded") !== "true") toggle(button);
    row.scrollIntoView({ block: "start" });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-at]");
    if (button) toggle(button);
  });
  window.addEventListener("hashchange", openTarget);
  openTarget();
})();
