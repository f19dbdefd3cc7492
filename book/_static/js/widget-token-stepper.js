/* token-stepper: the tokens of an answer, one by one. */
(function () {
  "use strict";

  const { widgets, el, svg, percent, animator, disable, panel } = window.cutaway;

  widgets["token-stepper"] = function (data) {
    const steps = data.steps;
    const last = steps.length - 1;
    let current = 0;

    const strip = tokenStrip(data, go);
    const bars = barList(steps);
    const chart = normChart(steps);
    const back = el("button", { type: "button", class: "cw-nav" }, "‹");
    const next = el("button", { type: "button", class: "cw-nav" }, "›");
    back.setAttribute("aria-label", "Previous token");
    next.setAttribute("aria-label", "Next token");
    const slider = el("input", {
      type: "range", min: 0, max: last, step: 1, value: 0,
      "aria-label": "Token of the answer",
    });
    const count = el("span", { class: "cw-count", "aria-hidden": "true" });
    const said = el("p", { class: "cw-said", "aria-live": "polite" });

    back.addEventListener("click", () => go(current - 1));
    next.addEventListener("click", () => go(current + 1));
    slider.addEventListener("input", () => go(Number(slider.value)));

    const root = el(
      "div",
      { class: "cw", role: "group", "aria-label": "Answer, token by token" },
      strip.node,
      el("div", { class: "cw-controls" }, back, slider, next, count),
      el(
        "div",
        { class: "cw-panels" },
        panel("Most probable next tokens", bars.node),
        panel("Length of the residual vector, by layer", chart.node)
      ),
      said
    );
    root.addEventListener("keydown", (event) => {
      const target = {
        ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: last,
      }[event.key];
      const modified = event.ctrlKey || event.metaKey || event.altKey;
      if (target === undefined || modified) return;
      event.preventDefault();
      go(target, event.target);
    });

    function go(index, focused) {
      current = Math.min(last, Math.max(0, index));
      const step = steps[current];
      strip.show(current, focused);
      bars.show(step.top, step.id);
      chart.show(current);
      slider.value = current;
      const where = `Token ${current + 1} of ${steps.length}`;
      slider.setAttribute("aria-valuetext", `${where}: ${step.token}`);
      count.textContent = `${current + 1} / ${steps.length}`;
      disable(back, current === 0, next);
      disable(next, current === last, back);
      const [first, second] = step.top;
      said.textContent =
        `${where}: the model has read ` +
        `${data.num_prompt_tokens + current} tokens and gives ` +
        `“${first.token}” ${percent(first.p)}` +
        (second ? `, then “${second.token}” ${percent(second.p)}.` : ".");
    }

    go(0);
    return root;
  };

  /** Disable a button; the focus moves on rather than getting lost. */
  /** The text: end of the prompt, then the answer as buttons. */
  function tokenStrip(data, go) {
    const hidden = data.num_prompt_tokens - data.prompt_tail.length;
    const prompt = el("div", { class: "cw-row" });
    if (hidden > 0) {
      prompt.append(el("span", { class: "cw-more" }, `… ${hidden} more`));
    }
    for (const token of data.prompt_tail) {
      prompt.append(el("code", { class: "cw-token" }, token));
    }
    const answer = el("div", { class: "cw-row" });
    const chips = data.steps.map((step, index) => {
      const chip = el(
        "button", { type: "button", class: "cw-token cw-chip" }, step.token
      );
      chip.addEventListener("click", () => go(index));
      answer.append(chip);
      return chip;
    });
    const node = el(
      "div", { class: "cw-strip" },
      el("p", { class: "cw-label" }, "Prompt"), prompt,
      el("p", { class: "cw-label" }, "Answer"), answer
    );
    function show(current, focused) {
      chips.forEach((chip, index) => {
        chip.classList.toggle("is-read", index < current);
        chip.classList.toggle("is-next", index === current);
        if (index === current) chip.setAttribute("aria-current", "step");
        else chip.removeAttribute("aria-current");
      });
      if (chips.includes(focused)) chips[current].focus();
    }
    return { node, show };
  }

  /** The likeliest tokens as bars on a scale from 0 to 100 %. */
  function barList(steps) {
    const names = steps.flatMap((step) => step.top.map((t) => t.token.length));
    const node = el("ol", {
      class: "cw-bars", style: `--cw-name: ${Math.min(15, Math.max(...names))}`,
    });
    const rows = steps[0].top.map(() => {
      const name = el("code", { class: "cw-token" });
      const bar = el("span", { class: "cw-bar" });
      const value = el("span", { class: "cw-value" });
      const track = el("span", { class: "cw-track" }, bar);
      const row = el("li", {}, name, track, value);
      node.append(row);
      return { row, name, bar, value };
    });
    function show(top, chosen) {
      rows.forEach(({ row, name, bar, value }, index) => {
        const entry = top[index];
        name.textContent = entry.token;
        bar.style.width = `${100 * entry.p}%`;
        value.textContent = percent(entry.p);
        row.classList.toggle("is-chosen", entry.id === chosen);
      });
    }
    return { node, show };
  }

  /** Norms by layer on a log scale; the other steps stay as faint lines. */
  function normChart(steps) {
    const box = { left: 38, right: 350, top: 12, bottom: 186 };
    const layers = steps[0].norms.length - 1;
    const all = steps.flatMap((step) => step.norms);
    const low = Math.floor(Math.log10(Math.min(...all)));
    const high = Math.ceil(Math.log10(Math.max(...all)));
    const x = (layer) =>
      box.left + ((box.right - box.left) * layer) / layers;
    const y = (norm) =>
      box.bottom -
      ((box.bottom - box.top) * (Math.log10(norm) - low)) / (high - low);
    const path = (points) =>
      points.map((v, i) => `${i ? "L" : "M"}${x(i)} ${v}`).join("");

    const node = svg("svg", {
      viewBox: "0 0 360 228", role: "img", class: "cw-chart",
    });
    for (let decade = low; decade <= high; decade += 1) {
      const at = y(10 ** decade);
      node.append(
        svg("line", {
          class: "cw-grid", x1: box.left, x2: box.right, y1: at, y2: at,
        }),
        svg(
          "text", { x: box.left - 8, y: at + 4, "text-anchor": "end" },
          `${10 ** decade}`
        )
      );
    }
    for (let layer = 0; layer <= layers; layer += 10) {
      node.append(
        svg(
          "text",
          { x: x(layer), y: box.bottom + 19, "text-anchor": "middle" },
          `${layer}`
        )
      );
    }
    node.append(
      svg(
        "text",
        {
          x: (box.left + box.right) / 2, y: box.bottom + 38,
          "text-anchor": "middle",
        },
        "layer (0: embedding)"
      )
    );
    for (const step of steps) {
      node.append(
        svg("path", { class: "cw-ghost", d: path(step.norms.map(y)) })
      );
    }
    const line = svg("path", { class: "cw-line" });
    const dots = steps[0].norms.map((_, layer) =>
      svg("circle", { class: "cw-dot", r: 2.6, cx: x(layer) }, svg("title"))
    );
    const end = svg("text", { class: "cw-end", "text-anchor": "end" });
    node.append(line, ...dots, end);

    let from = steps[0].norms.map(y);
    let to = from;
    let drawn = from;
    const animate = animator((t) => {
      drawn = to.map((v, i) => from[i] + (v - from[i]) * t);
      line.setAttribute("d", path(drawn));
      dots.forEach((dot, i) => dot.setAttribute("cy", drawn[i]));
      end.setAttribute("x", box.right);
      end.setAttribute("y", drawn[layers] - 9);
    });
    function show(index) {
      const norms = steps[index].norms;
      from = drawn;
      to = norms.map(y);
      dots.forEach((dot, layer) => {
        dot.firstChild.textContent = `layer ${layer}: ${norms[layer]}`;
      });
      end.textContent = `${Math.round(norms[layers])}`;
      node.setAttribute(
        "aria-label",
        `Length of the residual vector: ${norms[0]} after the ` +
          `embedding, ${norms[layers]} after layer ${layers}.`
      );
      animate();
    }
    return { node, show };
  }
})();
