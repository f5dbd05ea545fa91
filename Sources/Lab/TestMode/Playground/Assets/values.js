// Values of elements, as the API gives them: text, numbers, dates, bytes, lists and maps.

import { element } from "./dom.js";

/** Formats that browsers show; JPEG 2000 is none. */
const IMAGES = ["image/jpeg", "image/png"];

const isBytes = (value) => value !== null && typeof value === "object" && typeof value.base64 === "string";

/** The picture in a value, or null. */
export function portrait(value) {
  if (!isBytes(value) || !IMAGES.includes(value.media_type)) return null;
  return element("img", {
    class: "portrait", alt: "Portrait from the document", src: `data:${value.media_type};base64,${value.base64}`,
  });
}

export function valueView(value) {
  if (value === null) return "nothing";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (isBytes(value)) return `${value.media_type ?? "bytes"}, ${byteCount(value.base64)} bytes`;
  if (Array.isArray(value)) return element("ul", {}, ...value.map((item) => element("li", {}, valueView(item))));
  if (typeof value === "object") {
    return element("dl", { class: "inner" }, ...Object.entries(value).map(([name, item]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, valueView(item)))));
  }
  return String(value);
}

function byteCount(base64) {
  return Math.floor(base64.replace(/=+$/, "").length * 3 / 4);
}
