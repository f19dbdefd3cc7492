/* roofline-explorer: where prefill and decode stand under a roof. */
(function () {
  "use strict";

  const { widgets, el, svg, panel, controls, readings, memoryBar, short, whole } =
    window.cutaway;

  /* The model of cost. The package's operating_point, critical_batch and
   * resident_bytes compute the same; a test compares them. --------------- */

  /** Query-key pairs of causal attention over a window, or over all. */
  function causalPairs(newTokens, context, window) {
    if (window === null) {
      return newTokens * context + (newTokens * (newTokens + 1)) / 2;
    }
    const growing = Math.min(newTokens, Math.max(0, window - context));
    return causalPairs(growing, context, null) + (newTokens - growing) * window;
  }

  /** Layers that see all, and layers that see a window. */
  function kinds(model) {
    return [[model.layers - model.local, null], [model.local, model.window]]
      .filter(([layers]) => layers > 0);
  }

  /** FLOPs and bytes of each operation of a pass over equal sequences. */
  function operations(model, format, sequences, newTokens, context) {
    const rows = sequences * newTokens;
    const ops = model.ops.map(([token, logits, fixed, row, cached]) => ({
      flops: rows * token + sequences * logits,
      weights: (fixed + rows * row) * format.weight,
      cache: rows * cached * format.cache,
    }));
    let pairs = 0;
    let keys = 0;
    for (const [layers, window] of kinds(model)) {
      const all = context + newTokens;
      const near = window === null ? all : Math.min(all, window + newTokens - 1);
      pairs += layers * causalPairs(newTokens, context, window);
      keys += layers * near;
    }
    const product = {
      flops: sequences * pairs * model.pair_flops,
      weights: 0,
      cache: sequences * keys * model.key_elements * format.cache,
    };
    return [...ops, product, product]; // scores, and values
  }

  function peakOf(machine, format) {
    return machine.peaks[format.peaks.find((name) => name in machine.peaks)];
  }

  /** Where a pass stands: each operation takes the slower of two times. */
  function operatingPoint(model, machine, format, sequences, newTokens, context) {
    const peak = peakOf(machine, format);
    const point = { tokens: sequences * newTokens, flops: 0, bytes: 0, seconds: 0 };
    let computing = 0;
    for (const op of operations(model, format, sequences, newTokens, context)) {
      const bytes = op.weights + op.cache;
      const arithmetic = op.flops / peak;
      const memory = bytes / machine.bandwidth;
      point.flops += op.flops;
      point.bytes += bytes;
      point.seconds += Math.max(arithmetic, memory);
      if (arithmetic > memory) computing += arithmetic;
    }
    point.bound = computing > point.seconds / 2 ? "compute" : "memory";
    point.waiting = 1 - computing / point.seconds; // share of time, for memory
    point.intensity = point.flops / point.bytes;
    return point;
  }

  /** Least batch whose decode step waits for arithmetic; null if none. */
  function criticalBatch(model, machine, format, context) {
    const ridge = peakOf(machine, format) / machine.bandwidth;
    const ops = operations(model, format, 1, 1, context);
    const looked = model.ops.reduce((sum, op) => sum + op[3], 0);
    const own = looked * format.weight;
    const sum = (key) => ops.reduce((total, op) => total + op[key], 0);
    const gained = sum("flops") / ridge - sum("cache") - own;
    if (gained <= 0) return null;
    return Math.floor((sum("weights") - own) / gained) + 1;
  }

  /** Bytes of all weights, and of the caches with so many tokens each. */
  function resident(model, format, sequences, tokens) {
    let kept = 0;
    for (const [layers, window] of kinds(model)) {
      kept += layers * (window === null ? tokens : Math.min(tokens, window));
    }
    return {
      weights: model.params * format.weight,
      caches: sequences * kept * 2 * model.key_elements * format.cache,
    };
  }

  /* Words and numbers ----------------------------------------------------- */

  function time(seconds) {
    if (seconds >= 1) return `${short(seconds)} s`;
    return seconds >= 1e-3 ? `${short(1e3 * seconds)} ms` : `${short(1e6 * seconds)} µs`;
  }

  /* The widget ------------------------------------------------------------ */

  function build(data) {
    const { select, powers } = controls("roofline", update);
    const model = select("Model", data.models, data.start.model);
    const machine = select("GPU", data.machines, data.start.machine);
    const format = select("Numbers", data.formats, 0);
    const batch = powers("Sequences in decode", 10, data.start.batch);
    const context = powers("Tokens of each", 17, data.start.context);
    const chart = roofChart();
    const table = readings(["prefill", "decode"], [
      ["tokens in a pass", (p) => whole(p.tokens)],
      ["FLOP/byte", (p) => short(p.intensity)],
      ["time of a pass", (p) => time(p.seconds)],
      ["of it, for memory", (p) => `${Math.round(100 * p.waiting)} %`],
      ["tokens/s", (p) => short(p.tokens / p.seconds)],
    ]);
    const memory = memoryBar();
    const said = el("p", { class: "cw-said", "aria-live": "polite" });

    function update() {
      const m = model.chosen();
      const g = machine.chosen();
      const f = format.chosen();
      context.limit(m.longest);
      const n = context.value();
      const b = batch.value();
      const decode = operatingPoint(m, g, f, b, 1, n - 1);
      const prefill = operatingPoint(m, g, f, 1, n, 0);
      chart.show(g, peakOf(g, f), { decode, prefill });
      table.show([prefill, decode]);
      memory.show(resident(m, f, b, n), g.memory);
      const enough = criticalBatch(m, g, f, n - 1);
      said.textContent =
        `At ${whole(n)} ${n === 1 ? "token" : "tokens"} a sequence, decode ` +
        (enough === null
          ? "stays left of the ridge point whatever the batch: reading a " +
            "cache takes longer than all arithmetic of its sequence."
          : `crosses the ridge point at a batch of ${whole(enough)}.`);
    }

    const root = el(
      "div",
      { class: "cw cw-roofline", role: "group", "aria-label": "Roofline explorer" },
      el(
        "div", { class: "cw-fields" },
        model.node, machine.node, format.node, batch.node, context.node
      ),
      el(
        "div", { class: "cw-panels" },
        panel("Under the roof", chart.node),
        el(
          "div", { class: "cw-panel" },
          panel("At best", table.node), panel("Memory", memory.node)
        )
      ),
      said
    );
    update();
    return root;
  }

  /** The roof on logarithmic axes, with a point for each phase. */
  function roofChart() {
    const box = { left: 44, right: 346, top: 30, bottom: 234 };
    const span = { x: [-1, 6], y: [11, 16] }; // powers of ten
    const place = (value, [low, high], from, to) =>
      from + ((to - from) * (Math.log10(value) - low)) / (high - low);
    const x = (value) => place(value, span.x, box.left, box.right);
    const y = (value) => place(value, span.y, box.bottom, box.top);
    const node = svg("svg", {
      viewBox: "0 0 360 278", role: "img", class: "cw-chart",
    });
    const grid = (x1, x2, y1, y2) =>
      node.append(svg("line", { class: "cw-grid", x1, x2, y1, y2 }));
    const write = (at, down, anchor, ...content) =>
      node.append(svg("text", { x: at, y: down, "text-anchor": anchor }, ...content));
    const power = (p) => [
      "10", svg("tspan", { dy: -5, class: "cw-power" }, `${p}`.replace("-", "−")),
    ];
    for (let p = span.y[0]; p <= span.y[1]; p += 1) {
      grid(box.left, box.right, y(10 ** p), y(10 ** p));
      if (p % 2 === 0) write(box.left - 6, y(10 ** p) + 5, "end", ...power(p));
    }
    for (let p = span.x[0]; p <= span.x[1]; p += 1) {
      write(x(10 ** p), box.bottom + 20, "middle", ...power(p));
    }
    write((box.left + box.right) / 2, box.bottom + 39, "middle", "FLOP/byte");
    write(box.left - 40, 13, "start", "FLOP/s");
    const roof = svg("path", { class: "cw-roof" });
    const ridge = svg("line", { class: "cw-ridge", y1: box.bottom });
    const ridgeText = svg("text", { class: "cw-ridge-text" });
    node.append(ridge, roof, ridgeText);
    const marks = {};
    for (const [name, shape] of [["prefill", "square"], ["decode", "circle"]]) {
      const mark = shape === "circle"
        ? svg("circle", { r: 6 })
        : svg("rect", { x: -5.5, y: -5.5, width: 11, height: 11 });
      const label = svg("text", {}, name);
      marks[name] = svg("g", { class: `cw-mark cw-${name}` }, mark, label);
      node.append(marks[name]);
    }

    function show(machine, peak, points) {
      const corner = peak / machine.bandwidth;
      const low = 10 ** span.x[0];
      roof.setAttribute(
        "d",
        `M${x(low)} ${y(low * machine.bandwidth)}` +
          `L${x(corner)} ${y(peak)}L${box.right} ${y(peak)}`
      );
      for (const end of ["x1", "x2"]) ridge.setAttribute(end, x(corner));
      ridge.setAttribute("y2", y(peak));
      ridgeText.setAttribute("x", x(corner) + 6);
      ridgeText.setAttribute("y", box.bottom - 8);
      ridgeText.textContent = `ridge ${short(corner)}`;
      for (const [name, point] of Object.entries(points)) {
        const rate = point.flops / point.seconds;
        const at = [x(point.intensity), y(rate)];
        marks[name].setAttribute("transform", `translate(${at[0]} ${at[1]})`);
        // Prefill below the roof and decode above it, so that they never meet.
        const label = marks[name].lastChild;
        const right = name === "prefill" && at[0] < 245;
        label.setAttribute("x", right ? 10 : -8);
        label.setAttribute("y", name === "prefill" ? 18 : -6);
        label.setAttribute("text-anchor", right ? "start" : "end");
      }
      const { decode, prefill } = points;
      node.setAttribute(
        "aria-label",
        `Ridge point at ${short(corner)} FLOP per byte. ` +
          `Prefill at ${short(prefill.intensity)}, decode at ` +
          `${short(decode.intensity)}.`
      );
    }
    return { node, show };
  }

  widgets["roofline-explorer"] = build;
  build.model = { operatingPoint, criticalBatch, resident };
})();
