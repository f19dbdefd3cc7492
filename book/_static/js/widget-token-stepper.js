/* token-stepper: the tokens of an answer, one by one. */
(function () {
  "use strict";

  const { widgets, el, svg, percent, animator, panel, stepper } = window.cutaway;

  widgets["token-stepper"] = function (data) {
    const strip = tokenStrip(data, (index) => steps.go(index));
    const bars = barList(data.steps);
    const chart = normChart(data.steps);
    const steps = stepper({
      label: "Answer, token by token",
      back: "Previous token", next: "Next token", slider: "Token of the answer",
      above: [strip.node],
      below: [
        el(
          "div", { class: "cw-panels" },
          panel("Most probable next tokens", bars.node),
          panel("Length of the residual vector, by layer", chart.node)
        ),
      ],
      pace: 900,
      show(current, focused) {
        const step = data.steps[current];
        strip.show(current, focused);
        bars.show(step.top, step.id);
        chart.show(current);
        const number = current + 1;
        const where = `Token ${number} of ${data.steps.length}`;
        return {
          said: `${where}: ${sentence(step.top, data.num_prompt_tokens + current)}`,
          value: `${where}: ${step.token}`,
          count: `${number} / ${data.steps.length}`,
        };
      },
    });
    steps.reset(data.steps.length - 1);
    return steps.node;
  };

  function sentence([first, second], numRead) {
    return (
      `the model has read ${numRead} tokens and gives ` +
      `“${first.token}” ${percent(first.p)}` +
      (second ? `, then “${second.token}” ${percent(second.p)}.` : ".")
    );
  }

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
