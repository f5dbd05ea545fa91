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
