/* bpe-merges: the merges of byte-level BPE, one by one, on any text.
 *
 * The page brings the first merges of the model's list. Cutting into words,
 * bytes and merging are done here, and compared with the package in
 * tests/site/test_bpe_merges_widget.py. */
(function () {
  "use strict";

  const { widgets, el, stepper } = window.cutaway;

  /* The cut of SmolLM2: every digit alone, then GPT-2's words. JavaScript's
   * \s is not Unicode's white space, so that is written out. */
  const DIGIT = /(\p{N})/u;
  const WORD = new RegExp(
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+" +
      "| ?[^\\p{White_Space}\\p{L}\\p{N}]+" +
      "|\\p{White_Space}+(?!\\P{White_Space})|\\p{White_Space}+",
    "gu"
  );

  function cut(text) {
    return text.split(DIGIT).flatMap((piece) => piece.match(WORD) || []);
  }

  /* A printable character for each byte: 188 stand for themselves. */
  const SYMBOLS = [];
  const BYTES = new Map();
  for (let byte = 0, next = 256; byte < 256; byte += 1) {
    const itself =
      (byte >= 0x21 && byte <= 0x7e) ||
      (byte >= 0xa1 && byte <= 0xac) ||
      byte >= 0xae;
    SYMBOLS.push(String.fromCharCode(itself ? byte : next));
    if (!itself) next += 1;
    BYTES.set(SYMBOLS[byte], byte);
  }

  function symbols(word) {
    return Array.from(new TextEncoder().encode(word), (byte) => SYMBOLS[byte]);
  }

  /** Turn the list of merges into "left right" -> rank. */
  function ranksOf(merges) {
    return new Map(merges.map((pair, rank) => [pair, rank]));
  }

  /** All merges of a text: lowest rank first, then leftmost. */
  function mergesOf(words, ranks) {
    const now = words.map(symbols);
    const merges = [];
    for (;;) {
      let best = null;
      now.forEach((tokens, word) => {
        for (let place = 0; place + 1 < tokens.length; place += 1) {
          const rank = ranks.get(`${tokens[place]} ${tokens[place + 1]}`);
          if (rank !== undefined && (best === null || rank < best.rank)) {
            best = { rank, word, place };
          }
        }
      });
      if (best === null) return merges;
      const tokens = now[best.word];
      best.left = tokens[best.place];
      best.right = tokens[best.place + 1];
      tokens.splice(best.place, 2, best.left + best.right);
      merges.push(best);
    }
  }

  /** The tokens of each word after the first `count` merges. */
  function tokensAfter(words, merges, count) {
    const now = words.map(symbols);
    for (const { word, place, left, right } of merges.slice(0, count)) {
      now[word].splice(place, 2, left + right);
    }
    return now;
  }

  /** A token as text in which blanks and broken bytes show. */
  function visible(token) {
    const bytes = Uint8Array.from(token, (symbol) => BYTES.get(symbol));
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
        bytes
      );
    } catch {
      const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, "0"));
      return `⟨${hex.join(" ").toUpperCase()}⟩`;
    }
    return Array.from(text, (char) => {
      const mark = { " ": "␣", "\n": "↵", "\t": "⇥" }[char];
      if (mark) return mark;
      if (!/[\p{C}\p{Z}]/u.test(char)) return char;
      return `⟨${char.codePointAt(0).toString(16).toUpperCase()}⟩`;
    }).join("");
  }

  window.cutaway.bpe = { cut, symbols, ranksOf, mergesOf, tokensAfter, visible };

  widgets["bpe-merges"] = function (data) {
    const ranks = ranksOf(data.merges.split("\n"));
    const missing = new Set(data.missing_bytes.map((byte) => SYMBOLS[byte]));
    let words = [];
    let merges = [];

    const input = el("textarea", {
      rows: 2, maxlength: 200, spellcheck: "false", autocapitalize: "off",
      "aria-label": "Your text",
    });
    const examples = el("div", { class: "cw-row" });
    for (const text of data.examples) {
      const chip = el("button", { type: "button", class: "cw-token cw-chip" });
      chip.textContent = visible(symbols(text).join(""));
      chip.addEventListener("click", () => take(text));
      examples.append(chip);
    }
    const strip = el("div", { class: "cw-merge-words" });
    const steps = stepper({
      label: "Merges of your text",
      back: "One merge back", next: "Next merge", slider: "Merges done",
      above: [
        el("div", { class: "cw-strip" },
          el("p", { class: "cw-label" }, "Text"), input,
          el("p", { class: "cw-label" }, "Try"), examples),
        strip,
      ],
      show,
    });

    input.addEventListener("input", () => take(input.value, true));

    function take(text, typed) {
      if (!typed) input.value = text;
      words = cut(text);
      merges = mergesOf(words, ranks);
      steps.reset(merges.length, typed ? merges.length : 0);
    }

    function show(current) {
      const last = merges[current - 1];
      const now = tokensAfter(words, merges, current);
      strip.replaceChildren(
        ...now.map((tokens, word) =>
          el("span", { class: "cw-merge-word" },
            ...tokens.map((token, place) => {
              const fresh =
                last && last.word === word && last.place === place;
              const kind = missing.has(token)
                ? " is-missing" : fresh ? " is-new" : "";
              return el(
                "code", { class: `cw-token${kind}` }, visible(token)
              );
            }))
        )
      );
      return { said: sentence(now.flat(), last) };
    }

    function sentence(tokens, last) {
      const bytes = new TextEncoder().encode(input.value).length;
      const lacking = tokens.filter((token) => missing.has(token));
      const parts = [];
      if (last) {
        const join = [last.left, last.right].map(visible).join(" + ");
        const made = visible(last.left + last.right);
        parts.push(`Merge of rank ${last.rank}: ${join} becomes ${made}.`);
      } else if (tokens.length) {
        parts.push("No merge yet: every byte is a token.");
      }
      parts.push(`${bytes} bytes are ${tokens.length} tokens.`);
      if (lacking.length) {
        const named = [...new Set(lacking)].map((symbol) =>
          BYTES.get(symbol).toString(16).toUpperCase().padStart(2, "0"));
        parts.push(
          `The vocabulary has no token for the byte ${named.join(", ")}: ` +
            "the package refuses this text."
        );
      }
      return parts.join(" ");
    }

    take(data.examples[0]);
    return steps.node;
  };
})();
