/* kv-calculator: what the caches of a model take, and how many fit. */
(function () {
  "use strict";

  const { widgets, el, svg, panel, controls, readings, memoryBar, short, whole } =
    window.cutaway;

  /* The sizes. The package's KVLayout, max_tokens and sequences_that_fit
   * compute the same; a test compares them. ------------------------------ */

  /** Heads that one of tp devices holds; null if they cannot be spread. */
  function headsOfOne(heads, tp) {
    if (heads % tp && tp % heads) return null;
    return Math.max(1, Math.floor(heads / tp));
  }

  /** Heads over which a model cannot be spread; undefined if there are none. */
  function unfit(model, tp) {
    return [...model.caches, ...model.states]
      .map(([, heads]) => heads)
      .find((heads) => headsOfOne(heads, tp) === null);
  }

  /** Bytes of a sequence on one of tp devices; window: do windows count? */
  function sequenceBytes(model, format, tokens, tp, window) {
    let bytes = 0;
    for (const [layers, heads, key, value, near] of model.caches) {
      const kept = window && near !== null ? Math.min(tokens, near) : tokens;
      const row = key * format.key + value * format.value;
      bytes += layers * kept * headsOfOne(heads, tp) * row;
    }
    for (const [layers, heads, elements, size] of model.states) {
      bytes += layers * headsOfOne(heads, tp) * elements * size;
    }
    return bytes;
  }

  const floorBytes = (...args) => sequenceBytes(...args, true);
  const reservedBytes = (...args) => sequenceBytes(...args, false);

  /** Tokens of the longest sequences that fit; null if any do. */
  function maxTokens(model, format, room, sequences, tp, size) {
    const over = (tokens) => sequences * size(model, format, tokens, tp) > room;
    if (over(0)) return 0;
    let high = 1;
    while (!over(high)) {
      if (high > 2 ** 50) return null;
      high *= 2;
    }
    let low = Math.floor(high / 2);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (over(middle)) high = middle;
      else low = middle;
    }
    return high - 1;
  }

  /** Sequences that fit beside the weights; null if any number does. */
  function sequencesThatFit(memory, weights, cache) {
    if (weights > memory) return 0;
    return cache ? Math.floor((memory - weights) / cache) : null;
  }

  /* A model of the reader's own ------------------------------------------- */

  const FIELDS = [
    ["Layers", 1, 512], ["Layers with a window", 0, 512],
    ["Layers with a state", 0, 512], ["KV heads", 1, 512],
    ["Width of a key", 1, 4096], ["Width of a value", 0, 4096],
    ["Window", 1, 1048576], ["KiB of a state", 1, 1048576],
    ["Billion parameters", 0, 10000],
  ];

  /** The fields that come closest to a model of the list. */
  function fieldsOf(model) {
    const full = model.caches.find((one) => one[4] === null);
    const local = model.caches.find((one) => one[4] !== null);
    const [, heads, key, value] = full || local || [0, 8, 128, 128];
    const states = model.states.reduce((sum, one) => Math.max(sum, one[0]), 0);
    const kept = model.states.reduce((sum, one) => sum + one.reduce((a, b) => a * b), 0);
    return [
      model.layers, local ? local[0] : 0, states, heads, key, value,
      local ? local[4] : 4096, states ? Math.round(kept / states / 1024) : 2048,
      Number(((model.params || 0) / 1e9).toPrecision(4)),
    ];
  }

  /** A model made of the fields; state channels spread over any devices. */
  function ownModel([layers, local, states, heads, key, value, window, kib, params]) {
    const row = [heads, key, value];
    return {
      name: "your own", layers, longest: 2 ** 20,
      params: params ? params * 1e9 : null,
      caches: [
        [layers - local - states, ...row, null], [local, ...row, window],
      ].filter(([count]) => count > 0),
      states: states ? [[states, kib * 256, 1, 4]] : [],
    };
  }

  /* The widget ------------------------------------------------------------ */

  function build(data) {
    const { select, powers, field, idOf } = controls("kv", update);
    const { start } = data;
    const model = select("Model", [...data.models, { name: "your own" }], start.model);
    const machine = select("GPU", data.machines, start.machine);
    const weight = select("Weights", data.weights, 0);
    const format = select("Cache", data.formats, 0);
    const tokens = powers("Tokens of each", 20, start.tokens);
    const sequences = powers("Sequences", 10, start.sequences);
    const devices = powers("GPUs that share the heads", 6, 1);
    const count = (n) => (n === null ? "any" : whole(n));
    const table = readings(["floor", "reserved"], [
      ["a sequence, GB", (p) => short(p.one / 1e9)],
      ["a sequence, GiB", (p) => short(p.one / 2 ** 30)],
      ["all of them, GB", (p) => short(p.all / 1e9)],
      ["sequences that fit", (p) => count(p.fit)],
      ["tokens of each that fit", (p) => count(p.longest)],
    ]);
    const chart = lengthChart();
    const memory = memoryBar();
    const said = el("p", { class: "cw-said", "aria-live": "polite" });
    const inputs = FIELDS.map(([label, min, max]) => {
      const input = el("input", {
        id: idOf(label), type: "number", min, max, required: "",
        step: label.startsWith("Billion") ? "any" : 1,
      });
      input.addEventListener("input", update);
      return input;
    });
    const own = el(
      "fieldset", { class: "cw-own" },
      el("legend", {}, "Your own model; a value of width 0 is read off the key"),
      el("div", { class: "cw-fields" },
        ...inputs.map((input, index) => field(FIELDS[index][0], input)))
    );
    const grid = el("div", { class: "cw-panels" },
      panel("Caches on each GPU, by tokens", chart.node),
      el("div", { class: "cw-panel" },
        panel("On each GPU", table.node), panel("Memory", memory.node)));
    let last = data.models[start.model];

    /** The chosen model; null while a field is unfit. */
    function chosenModel() {
      const chosen = model.chosen();
      const isOwn = !chosen.caches;
      if (isOwn && own.hidden) {
        fieldsOf(last).forEach((value, index) => (inputs[index].value = value));
      }
      own.hidden = !isOwn;
      if (!isOwn) return (last = chosen);
      if (!inputs.every((input) => input.checkValidity())) return null;
      const values = inputs.map((input) => Number(input.value));
      const [layers, local, states] = values;
      return local + states <= layers ? ownModel(values) : null;
    }

    function update() {
      const m = chosenModel();
      tokens.limit(m ? m.longest : 2 ** 20);
      const [n, b, tp] = [tokens.value(), sequences.value(), devices.value()];
      const heads = m ? unfit(m, tp) : undefined;
      grid.hidden = m === null || heads !== undefined;
      if (m === null) {
        said.textContent = "A field is empty or out of its range, or the layers are too few.";
        return;
      }
      if (heads !== undefined) {
        said.textContent =
          `${heads} heads cannot be spread evenly over ${tp} GPUs.`;
        return;
      }
      const f = format.chosen();
      const room = machine.chosen().memory;
      const weights = ((m.params || 0) * weight.chosen().weight) / tp;
      const free = Math.max(0, room - weights);
      const columns = [floorBytes, reservedBytes].map((size) => {
        const one = size(m, f, n, tp);
        return {
          one, all: b * one, fit: sequencesThatFit(room, weights, one),
          longest: maxTokens(m, f, free, b, tp, size),
        };
      });
      table.show(columns);
      memory.show({ weights, caches: columns[0].all }, room);
      chart.show(m, f, b, tp, n, free);
      said.textContent = sentence(m, f, b, tp, weights);
    }

    const root = el(
      "div",
      { class: "cw cw-kv", role: "group", "aria-label": "KV-cache calculator" },
      el("div", { class: "cw-fields" },
        model.node, machine.node, weight.node, format.node, tokens.node,
        sequences.node, devices.node),
      own, grid, said
    );
    own.hidden = true;
    update();
    return root;
  }

  /** What a token costs, and where the caches outweigh the weights. */
  function sentence(model, format, sequences, tp, weights) {
    const state = floorBytes(model, format, 0, tp);
    const token = reservedBytes(model, format, 1, tp) - state;
    const where = tp > 1 ? ` on each of ${tp} GPUs` : "";
    const text = `A token takes ${whole(token)} bytes${where}` +
      (state ? `, a sequence ${short(state / 1e6)} MB besides.` : ".");
    if (!weights) {
      return `${text} Its parameters are not known, so no weights are counted.`;
    }
    const equal = maxTokens(model, format, weights, sequences, tp, floorBytes);
    const whose = sequences > 1 ? `${whole(sequences)} caches` : "The cache";
    const verb = sequences > 1 ? "outweigh" : "outweighs";
    return equal === null
      ? `${text} ${whose} never ${verb} the weights.`
      : `${text} ${whose} ${verb} the weights beyond ${whole(equal)} tokens.`;
  }

  /** Bytes of all caches against tokens, both on logarithmic axes. */
  function lengthChart() {
    const box = { left: 44, right: 346, top: 30, bottom: 234 };
    const bytes = [5, 13]; // powers of ten
    const x = (power) => box.left + ((box.right - box.left) * power) / 20;
    const y = (value) => {
      const power = Math.log10(Math.max(value, 1));
      const share = (power - bytes[0]) / (bytes[1] - bytes[0]);
      const at = box.bottom - (box.bottom - box.top) * share;
      return Math.min(box.bottom, Math.max(box.top, at));
    };
    const node = svg("svg", { viewBox: "0 0 360 278", role: "img", class: "cw-chart" });
    const write = (at, down, anchor, ...content) =>
      node.append(svg("text", { x: at, y: down, "text-anchor": anchor }, ...content));
    const ticks = [[6, "1 MB"], [9, "1 GB"], [12, "1 TB"]];
    for (const [power, name] of ticks) {
      const at = y(10 ** power);
      node.append(svg("line", {
        class: "cw-grid", x1: box.left, x2: box.right, y1: at, y2: at,
      }));
      write(box.left - 6, at + 5, "end", name);
    }
    for (const [power, name] of [[0, "1"], [10, "1,024"], [20, "1,048,576"]]) {
      const anchor = power === 20 ? "end" : "middle";
      write(x(power), box.bottom + 20, anchor, name);
    }
    write((box.left + box.right) / 2, box.bottom + 39, "middle", "tokens of each");
    for (const [at, kind, name] of [
      [box.left, "", "floor"], [box.left + 90, "cw-reserved", "reserved"],
    ]) {
      node.append(svg("path", { class: `cw-line ${kind}`, d: `M${at} 10h24` }));
      write(at + 30, 15, "start", name);
    }
    const free = svg("line", { class: "cw-free", x1: box.left, x2: box.right });
    const freeText = svg("text", { x: box.left + 6, class: "cw-free-text" });
    const reserve = svg("path", { class: "cw-line cw-reserved" });
    const least = svg("path", { class: "cw-line" });
    const dot = svg("circle", { class: "cw-dot", r: 6 });
    node.append(free, freeText, reserve, least, dot);

    function show(model, format, sequences, tp, tokens, room) {
      const trace = (size) => {
        const points = [];
        for (let power = 0; power <= 20; power += 0.5) {
          const value = sequences * size(model, format, 2 ** power, tp);
          points.push(`${x(power).toFixed(1)} ${y(value).toFixed(1)}`);
        }
        return `M${points.join("L")}`;
      };
      least.setAttribute("d", trace(floorBytes));
      reserve.setAttribute("d", trace(reservedBytes));
      for (const end of ["y1", "y2"]) free.setAttribute(end, y(room));
      freeText.setAttribute("y", y(room) - 6);
      freeText.textContent = room
        ? `${short(room / 1e9)} GB left for caches` : "no room for caches";
      const now = sequences * floorBytes(model, format, tokens, tp);
      dot.setAttribute("cx", x(Math.log2(tokens)));
      dot.setAttribute("cy", y(now));
      node.setAttribute(
        "aria-label",
        `Caches of ${short(now / 1e9)} GB at ${whole(tokens)} tokens of each; ` +
          `${short(room / 1e9)} GB are left for them.`
      );
    }
    return { node, show };
  }

  widgets["kv-calculator"] = build;
  build.model = { floorBytes, reservedBytes, maxTokens, sequencesThatFit, unfit, ownModel };
})();
