// Makes elements. Text only ever becomes a text node: no value of a document can be markup.

/** An element with attributes, and with texts and elements in it; null and undefined are left out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

export function show(id, isShown = true) {
  byId(id).hidden = !isShown;
}

/** A name that may break after its dots and underscores. */
export function name(text) {
  const parts = text.split(/(?<=[._])/);
  return element("code", {}, ...parts.flatMap((part, index) => (index > 0 ? [element("wbr"), part] : [part])));
}

/** Names in a row. */
export function names(list) {
  return list.flatMap((text, index) => (index > 0 ? [", ", name(text)] : [name(text)]));
}

/** JSON to read, folded away unless it is open. */
export function jsonBlock(title, value, options) {
  return textBlock(title, JSON.stringify(value, null, 2), options);
}

/** Text of a fixed width to read, folded away unless it is open. */
export function textBlock(title, text, { id, open = false } = {}) {
  return element(
    "details", { id, open },
    element("summary", {}, title),
    // Wide text scrolls by itself, so the keyboard must reach it.
    element("pre", { tabindex: "0", role: "region", "aria-label": title }, text),
  );
}

/** A checkbox or radio button with its label. */
export function choice(attributes, label, ...more) {
  return element("label", { class: "choice" }, element("input", attributes), element("span", {}, label, ...more));
}
