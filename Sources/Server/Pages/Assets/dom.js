// Short names for what the page does to its document.

export const byId = (id) => document.getElementById(id);

export function show(id, isShown = true) {
  byId(id).hidden = !isShown;
}

/** Sets a text, and only if it is another: what is announced is not announced twice. */
export function say(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}

/** An element with attributes and children. Texts stay texts. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** One of the drawings of the document, which says nothing to those who do not see it. */
export function icon(name) {
  const svg = "http://www.w3.org/2000/svg";
  const [made, use] = [document.createElementNS(svg, "svg"), document.createElementNS(svg, "use")];
  made.setAttribute("class", "icon");
  made.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#icon-${name}`);
  made.append(use);
  return made;
}
