/* cache-stepper: decoding pass by pass, with and without a KV cache.
 *
 * The data are passes that the package ran; see cutaway.book.cache_steps.
 * Nothing is computed here but the words for a number, which are compared
 * with Python in tests/site/test_cache_stepper_widget.py. */
(function () {
  "use strict";

  const { widgets, el, panel, stepper } = window.cutaway;

  const MODES = { cached: "With a cache", uncached: "Without" };
  const ROWS = ["Query", "Key", "Value"];
  const SIGNS = { new: "+", again: "↻", read: "•", gone: "" };
  const LEGEND = {
    new: "computed for the first time",
    again: "computed again",
    read: "read from the cache",
    gone: "not kept",
    last: "the query that gives the next token",
  };

  /** 46080 -> "46.1 kB", 1119343104 -> "1.12 GFLOP". */
  function amount(number, unit) {
    if (unit === "") return `${number}`;
    let power = 0;
    while (number >= 1000 && power < 4) {
      number /= 1000;
      power += 1;
    }
    const shown = power === 0 ? `${number}` : number.toPrecision(3);
    // 999,600 would be "1.00e+3 k"
    if (shown.includes("e")) return amount(1000 ** (power + 1), unit);
    return `${shown} ${["", "k", "M", "G", "T"][power]}${unit}`;
  }

  const SUMS = [
    ["tokens", "Tokens through the layers", ""],
    ["flops", "FLOPs", "FLOP"],
    ["kv", "Keys and values read", "B"],
  ];

  widgets["cache-stepper"] = function (data) {
    let mode = "cached";
    let step = 0;
    const choice = modeButtons((chosen) => {
      mode = chosen;
      steps.go(step);
    });
    const grid = tokenGrid(data);
    const sums = sumBars(data);
    const steps = stepper({
      label: "Decoding, pass by pass",
      back: "Previous pass", next: "Next pass", slider: "Pass",
      above: [choice.node, grid.node, legend()],
      below: [panel("All passes so far", sums.node)],
      pace: 900,
      show(current) {
        step = current;
        choice.show(mode);
        grid.show(data[mode][current]);
        sums.show(current, mode);
        const number = `${current + 1} of ${data.cached.length}`;
        return {
          said: sentence(data, mode, current),
          value: `Pass ${number}`,
          count: `${current + 1} / ${data.cached.length}`,
        };
      },
    });
    steps.reset(data.cached.length - 1);
    return steps.node;
  };

  function modeButtons(choose) {
    const node = el("div", { class: "cw-row cw-modes", role: "group",
                             "aria-label": "Cache" });
    const buttons = Object.entries(MODES).map(([mode, name]) => {
      const button = el(
        "button", { type: "button", class: "cw-token cw-chip" }, name
      );
      button.addEventListener("click", () => choose(mode));
      node.append(button);
      return [mode, button];
    });
    function show(chosen) {
      for (const [mode, button] of buttons) {
        button.setAttribute("aria-pressed", `${mode === chosen}`);
        button.classList.toggle("is-next", mode === chosen);
      }
    }
    return { node, show };
  }

  /** What a pass does with one token: new, again, read or gone. */
  function kindOf(row, token, { start, stop, seen }) {
    if (token >= stop) return "";
    if (token < start) return row === 0 ? "gone" : "read";
    return token < seen ? "again" : "new";
  }

  /** A column for each token, a row each for queries, keys and values. */
  function tokenGrid(data) {
    const columns = data.tokens.length;
    const node = el("div", {
      class: "cw-kv", role: "img", style: `--cw-columns: ${columns}`,
    });
    const heads = data.tokens.map((token) =>
      el("span", { class: "cw-kv-head" }, el("code", {}, token))
    );
    node.append(el("span"), ...heads);
    const cells = ROWS.map((name, row) => {
      node.append(el("span", { class: "cw-kv-name" }, name));
      return data.tokens.map(() => {
        const cell = el("span", { class: "cw-kv-cell" });
        node.append(cell);
        return cell;
      });
    });
    function show(pass) {
      heads.forEach((head, token) => {
        head.className = "cw-kv-head";
        if (token === pass.stop) head.classList.add("is-next");
        if (token > pass.stop) head.classList.add("is-later");
      });
      cells.forEach((line, row) => {
        line.forEach((cell, token) => {
          const kind = kindOf(row, token, pass);
          cell.className = `cw-kv-cell${kind && ` is-${kind}`}`;
          if (row === 0 && token === pass.stop - 1) {
            cell.classList.add("is-last");
          }
          cell.textContent = SIGNS[kind] || "";
        });
      });
      const again = Math.max(0, pass.seen - pass.start);
      node.setAttribute(
        "aria-label",
        `${pass.start} tokens read from the cache, ${again} computed again, ` +
          `${pass.stop - pass.start - again} computed for the first time.`
      );
    }
    return { node, show };
  }

  function legend() {
    const node = el("ul", { class: "cw-kv-legend" });
    for (const [kind, words] of Object.entries(LEGEND)) {
      const swatch = el(
        "span", { class: `cw-kv-cell is-${kind}`, "aria-hidden": "true" },
        SIGNS[kind] || ""
      );
      node.append(el("li", {}, swatch, words));
    }
    return node;
  }

  /** Sums of both modes as bars on the scale of the larger last one. */
  function sumBars(data) {
    const node = el("div", { class: "cw-kv-sums" });
    const lines = [];
    for (const [key, name, unit] of SUMS) {
      const list = el("ol", { class: "cw-bars" });
      const most = Math.max(
        1, ...Object.keys(MODES).map((mode) => data[mode].at(-1)[key])
      );
      for (const [mode, label] of Object.entries(MODES)) {
        const bar = el("span", { class: "cw-bar" });
        const value = el("span", { class: "cw-value" });
        const row = el(
          "li", {}, el("span", { class: "cw-kv-mode" }, label),
          el("span", { class: "cw-track" }, bar), value
        );
        list.append(row);
        lines.push({ key, unit, most, mode, row, bar, value });
      }
      node.append(el("div", {}, el("p", { class: "cw-label" }, name), list));
    }
    function show(current, chosen) {
      for (const { key, unit, most, mode, row, bar, value } of lines) {
        const sum = data[mode][current][key];
        bar.style.width = `${(100 * sum) / most}%`;
        value.textContent = amount(sum, unit);
        row.classList.toggle("is-chosen", mode === chosen);
      }
    }
    return { node, show };
  }

  function sentence(data, mode, current) {
    const pass = data[mode][current];
    const last = data.tokens[pass.stop - 1];
    return (
      `Pass ${current + 1} computes ${work(pass, mode, last)}. ` +
      `The query of “${last}” gives “${data.tokens[pass.stop]}”.`
    );
  }

  function work({ start, stop, seen, made, read }, mode, last) {
    if (mode === "uncached") {
      return seen
        ? `all ${stop} tokens, ${seen} of them again, and keeps nothing`
        : `the ${stop} tokens of the prompt and keeps nothing`;
    }
    const stores = `adds ${amount(made, "B")} to the cache`;
    if (!start) return `the ${stop} tokens of the prompt and ${stores}`;
    return (
      `“${last}” alone, reads ${amount(read, "B")} of keys and values of ` +
      `${start} earlier tokens and ${stores}`
    );
  }

  window.cutaway.kv = { amount, kindOf, sentence };
})();
