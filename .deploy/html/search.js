// Finds sections that have every word. Without this script the pages are all there, and have no search.
"use strict";
(() => {
  const MOST = 30;
  const form = document.getElementById("search");
  const input = document.getElementById("words");
  const found = document.getElementById("found");
  const article = document.querySelector("article");
  const sections = window.entries.map(([file, page, title, anchor, text]) => ({
    file, page, title, anchor, text, low: text.toLowerCase(), head: `${page} ${title}`.toLowerCase(),
  }));

  /** Nought for a section that lacks a word; words in a title count more. */
  function rank(section, words) {
    let sum = 0;
    for (const word of words) {
      const inHead = section.head.includes(word);
      const count = section.low.split(word).length - 1;
      if (!inHead && count === 0) return 0;
      sum += (inHead ? 20 : 0) + Math.min(count, 5) / (1 + section.text.length / 2000);
    }
    return sum;
  }

  function excerpt(section, words) {
    const at = Math.max(0, Math.min(...words.map((word) => section.low.indexOf(word)).filter((index) => index >= 0), section.text.length) - 60);
    return (at > 0 ? "… " : "") + section.text.slice(at, at + 200) + (at + 200 < section.text.length ? " …" : "");
  }

  function item(section, words) {
    const [entry, link, text] = ["li", "a", "p"].map((name) => document.createElement(name));
    link.href = section.file + (section.anchor ? `#${section.anchor}` : "");
    link.textContent = section.title ? `${section.page}: ${section.title}` : section.page;
    link.addEventListener("click", () => show([]));
    text.textContent = excerpt(section, words);
    entry.append(link, text);
    return entry;
  }

  function show(words) {
    found.hidden = words.length === 0;
    article.hidden = words.length > 0;
    const ranked = sections.map((section) => [rank(section, words), section]).filter(([sum]) => words.length > 0 && sum > 0)
      .sort(([one], [other]) => other - one);
    const head = document.createElement("h2");
    head.textContent = ranked.length === 0 ? "Nothing has all these words" : `${ranked.length} sections`;
    const list = document.createElement("ol");
    list.append(...ranked.slice(0, MOST).map(([, section]) => item(section, words)));
    found.replaceChildren(head, list);
  }

  const words = () => input.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
  input.addEventListener("input", () => show(words()));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    found.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    }
  });
  form.hidden = false;
})();
