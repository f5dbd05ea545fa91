// The page that verifies bytes of one's own.

import { API, Problem, loadConfiguration } from "./api.js";
import { byId, show } from "./dom.js";
import { VerdictView } from "./verdict.js";

/** What a field's file holds, instead of its text. */
const files = new Map();

/** The bytes of a text in hexadecimal or base64; null if it is neither. */
function decoded(text) {
  const packed = text.replace(/\s+/g, "");
  if (/^([0-9a-f]{2})+$/i.test(packed)) return Uint8Array.from(packed.match(/../g), (pair) => parseInt(pair, 16));
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(packed)) return null;
  try {
    return Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function base64URL(bytes) {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function bytesOf(id, name) {
  const bytes = files.get(id) ?? decoded(byId(id).value);
  if (bytes === null || bytes.length === 0) throw new Error(`${name}: give hexadecimal, base64 or a file.`);
  return base64URL(bytes);
}

/** A file that is text stands in its field; other bytes are named there. */
async function take(id, file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = /^[\t\n\r\x20-\x7e]+$/.test(new TextDecoder("latin1").decode(bytes)) && new TextDecoder().decode(bytes);
  byId(id).value = text || `${file.name}: ${bytes.length} bytes`;
  if (text) files.delete(id);
  else files.set(id, bytes);
}

class CheckPage {
  constructor(configuration) {
    this.api = new API(configuration.api_key);
    this.verdict = new VerdictView(configuration);
    for (const id of ["response", "transcript", "anchors"]) this.accept(id);
    for (const radio of document.getElementsByName("trust")) {
      radio.addEventListener("change", () => show("own-trust", this.hasOwnTrust));
    }
    byId("check").addEventListener("submit", (event) => {
      event.preventDefault();
      this.check();
    });
    document.body.dataset.ready = "true";
  }

  get hasOwnTrust() {
    return document.querySelector("input[name=trust]:checked").value === "own";
  }

  accept(id) {
    const field = byId(id);
    const fails = (error) => this.explain(error);
    byId(`${id}-file`).addEventListener("change", ({ target }) => {
      if (target.files.length > 0) take(id, target.files[0]).catch(fails);
    });
    field.addEventListener("input", () => files.delete(id));
    field.addEventListener("dragover", (event) => event.preventDefault());
    field.addEventListener("drop", (event) => {
      const [file] = event.dataTransfer.files;
      if (file === undefined) return;
      event.preventDefault();
      take(id, file).catch(fails);
    });
  }

  async check() {
    if (document.body.getAttribute("aria-busy") === "true") return;
    document.body.setAttribute("aria-busy", "true");
    show("problem", false);
    try {
      const body = {
        response: bytesOf("response", "DeviceResponse"),
        session_transcript: bytesOf("transcript", "SessionTranscript"),
      };
      if (this.hasOwnTrust) body.trust_anchors = byId("anchors").value;
      if (byId("request").value.trim()) body.request = JSON.parse(byId("request").value);
      if (byId("at").value) body.at = Math.floor(Date.parse(`${byId("at").value}Z`) / 1000);
      const verdict = await this.api.post("/v1/test/checks", body);
      show("empty", false);
      this.verdict.show(verdict, undefined);
      byId("verdict-title").focus({ preventScroll: true });
      byId("verdict").scrollIntoView({ block: "start" });
    } catch (error) {
      this.explain(error);
    } finally {
      document.body.removeAttribute("aria-busy");
    }
  }

  explain(error) {
    this.verdict.clear();
    byId("problem").textContent = error instanceof Problem ? error.text : error.message;
    show("problem");
    byId("problem").scrollIntoView({ block: "nearest" });
  }
}

try {
  new CheckPage(await loadConfiguration());
} catch (error) {
  byId("problem").textContent = `The page could not be set up: ${error.message}`;
  show("problem");
}
