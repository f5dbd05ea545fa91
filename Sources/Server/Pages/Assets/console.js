// A relying party's view of its sessions. It reads what the API gives the key, and keeps nothing.

import { byId, element, say, show } from "./dom.js";

const STATUSES = ["requires_input", "processing", "verified", "failed", "canceled", "expired", "redacted"];
const TONES = { verified: "good", delivered: "good", failed: "bad", dead: "bad" };
const PLACES = ["sign-in", "sessions", "session", "deliveries", "usage"];
const SESSIONS = "/v1/verification_sessions";
const DELIVERIES = "/v1/webhook_deliveries";

/** A refusal, in the server's words. */
class Problem extends Error {
  constructor(status, { detail, title, code } = {}) {
    super(`${detail ?? title ?? `The server replied with ${status}.`}${code ? ` (${code})` : ""}`);
    this.status = status;
  }
}

const time = (seconds) => new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
const cell = (...content) => element("td", {}, ...content);
const word = (status) => element("span", { class: `status ${TONES[status] ?? "soft"}` }, status.replaceAll("_", " "));
const code = (text) => element("code", {}, text);

class Console {
  #key = null;

  constructor() {
    byId("status").append(...STATUSES.map((name) => element("option", { value: name }, name.replaceAll("_", " "))));
    this.on("sign-in", "submit", () => this.signIn(byId("key").value.trim()));
    this.on("sign-out", "click", () => this.signOut());
    this.on("filter", "submit", () => this.find());
    this.on("more-sessions", "click", () => this.listSessions(true));
    this.on("delivery-filter", "submit", () => this.listDeliveries(false));
    this.on("more-deliveries", "click", () => this.listDeliveries(true));
    window.addEventListener("hashchange", () => this.attempt(() => this.go()));
    this.attempt(() => this.begin());
  }

  on(id, type, action) {
    byId(id).addEventListener(type, (event) => {
      event.preventDefault();
      this.attempt(action);
    });
  }

  /** One step at a time; what goes wrong is said above. */
  async attempt(action) {
    if (document.body.getAttribute("aria-busy") === "true") return;
    const { hash } = location;
    document.body.setAttribute("aria-busy", "true");
    show("problem", false);
    try {
      await action();
    } catch (error) {
      if (error.status === 401) this.signOut();
      say("problem", error.status === 401 ? "This key is unknown or has expired." : error.message);
      show("problem");
    } finally {
      document.body.removeAttribute("aria-busy");
    }
    // What was called for meanwhile.
    if (location.hash !== hash) await this.attempt(() => this.go());
  }

  // MARK: Calls

  async call(path, { method = "GET", accept = "application/json", body } = {}) {
    const headers = { Authorization: `Bearer ${this.#key}`, Accept: accept };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const reply = await fetch(path, { method, headers, body });
    if (!reply.ok) throw new Problem(reply.status, await reply.json().catch(() => ({})));
    return accept === "application/json" ? reply.json() : reply.blob();
  }

  // MARK: Signing in

  /** Test mode has a key for everyone at this machine. */
  async begin() {
    this.place("sign-in");
    const { mode } = await (await fetch("/healthz")).json();
    say("mode", { test: "Test mode", staging: "Staging: test trust", live: "" }[mode] ?? mode);
    show("mode", mode !== "live");
    if (mode === "test") {
      const { api_key: key } = await (await fetch("/playground/config.json")).json();
      await this.signIn(key);
    }
    document.body.dataset.ready = "true";
  }

  async signIn(key) {
    // Anything else is no key, and cannot be in a header.
    if (!/^[\x21-\x7e]+$/.test(key)) throw new Problem(401);
    this.#key = key;
    try {
      await this.call(`${SESSIONS}?limit=1`);
    } catch (error) {
      this.#key = null;
      throw error;
    }
    byId("key").value = "";
    show("places");
    await this.go();
  }

  signOut() {
    this.#key = null;
    byId("key").value = "";
    for (const id of ["sessions", "session", "deliveries", "usage"]) byId(id).replaceChildren();
    show("places", false);
    this.place("sign-in");
  }

  // MARK: Places

  async go() {
    if (this.#key === null) return this.place("sign-in");
    const [name, id] = location.hash.slice(1).split("=");
    switch (name) {
      case "session": return this.readSession(id ?? "");
      case "deliveries": return this.listDeliveries(false);
      case "usage": return this.readUsage();
      default: return this.listSessions(false);
    }
  }

  place(name) {
    for (const place of PLACES) show(`place-${place}`, place === name);
    for (const link of document.querySelectorAll("#places a")) {
      const isHere = link.hash === `#${name}` || (name === "session" && link.hash === "#sessions");
      if (isHere) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    (name === "sign-in" ? byId("key") : byId(`${name}-title`)).focus({ preventScroll: true });
  }

  // MARK: Sessions

  find() {
    const id = byId("session-id").value.trim();
    if (id === "") return this.listSessions(false);
    if (location.hash === `#session=${id}`) return this.readSession(id);
    location.hash = `session=${id}`;
  }

  async listSessions(isMore) {
    const query = new URLSearchParams({ limit: "20" });
    const seconds = (id) => byId(id).value && String(Math.floor(Date.parse(byId(id).value) / 1000));
    const filters = {
      status: byId("status").value, client_reference_id: byId("reference").value.trim(),
      doc_type: byId("doc-type").value.trim(), "created[gte]": seconds("from"), "created[lt]": seconds("to"),
      starting_after: isMore ? this.lastSession : "",
    };
    for (const [name, value] of Object.entries(filters)) if (value) query.set(name, value);
    const { data, has_more: hasMore } = await this.call(`${SESSIONS}?${query}`);
    if (!isMore) byId("sessions").replaceChildren();
    byId("sessions").append(...data.map((session) => element(
      "tr", {}, cell(time(session.created)), cell(word(session.status)), cell(session.client_reference_id ?? ""),
      cell(session.last_error ? code(session.last_error.code) : ""),
      cell(element("a", { href: `#session=${session.id}` }, code(session.id))))));
    this.lastSession = data.at(-1)?.id;
    show("more-sessions", hasMore);
    show("no-sessions", byId("sessions").childElementCount === 0);
    if (!isMore) this.place("sessions");
  }

  async readSession(id) {
    const session = await this.call(`${SESSIONS}/${encodeURIComponent(id)}`);
    say("session-title", `Session ${session.id}`);
    const facts = [
      ["Status", word(session.status)], ["Created", time(session.created)], ["Expires", time(session.expires_at)],
      ["Your id", session.client_reference_id ?? "none"],
      ...Object.entries(session.metadata).map(([name, value]) => [`metadata.${name}`, value]),
      ...(session.last_error ? [["Reason", code(session.last_error.code)]] : []),
    ];
    byId("session").replaceChildren(
      this.facts(facts), element("h3", {}, "Requests"),
      ...(session.requests.length === 0 ? [element("p", { class: "hint" }, "They are erased.")] : []),
      ...session.requests.map(({ protocol, data }) => this.folded(protocol, element(
        "pre", { tabindex: "0", role: "region", "aria-label": protocol }, JSON.stringify(data, null, 2)))),
      element("h3", {}, "Report"), ...this.report(session.report), element("h3", {}, "Events and deliveries"),
      ...(await this.events(session)));
    this.place("session");
  }

  facts(rows) {
    return element("dl", { class: "facts" }, ...rows.map(([name, value]) => element(
      "div", {}, element("dt", {}, name), element("dd", {}, value))));
  }

  folded(title, ...content) {
    return element("details", {}, element("summary", {}, title), ...content);
  }

  /** What failed or warned first, the rest folded by outcome. */
  report(report) {
    if (report === null) return [element("p", { class: "hint" }, "No response has been verified.")];
    const checks = [...report.checks, ...report.documents.flatMap((document) => document.checks)];
    const list = (outcome) => element("ul", { class: "checks" }, ...checks.filter((check) => check.outcome === outcome).map(
      ({ code: name, clause, detail }) => element(
        "li", {}, code(name), element("small", {}, [clause, detail].filter(Boolean).join(" · ")))));
    const count = (outcome) => checks.filter((check) => check.outcome === outcome).length;
    const parts = [["failed", "Failed"], ["warning", "Warnings"], ["passed", "Passed"], ["not_run", "Not run"]];
    const page = element("button", { type: "button", class: "plain" }, "Save the report as a page");
    page.addEventListener("click", () => this.attempt(() => this.saveReport(report.id)));
    return [
      ...parts.filter(([outcome]) => count(outcome) > 0).map(([outcome, title]) => {
        const part = this.folded(`${title}: ${count(outcome)}`, list(outcome));
        part.open = outcome === "failed" || outcome === "warning";
        return part;
      }), page];
  }

  async saveReport(id) {
    const address = URL.createObjectURL(await this.call(`/v1/verification_reports/${id}`, { accept: "text/html" }));
    element("a", { href: address, download: `${id}.html` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  /** A session has one event of each end: of its status, and of the one before a redaction. */
  async events({ id, status }) {
    const ends = status === "redacted" ? STATUSES.slice(2) : STATUSES.slice(2).includes(status) ? [status] : [];
    const found = [];
    for (const end of ends) {
      const event = id.replace(/^vs_/, "evt_") + `_${end}`;
      try {
        const { type, created } = await this.call(`/v1/events/${event}`);
        const { data } = await this.call(`${DELIVERIES}?limit=100&event=${event}`);
        found.push(element("p", {}, code(type), ` ${time(created)}`), data.length > 0
          ? this.deliveries(data, () => this.readSession(id)) : element("p", { class: "hint" }, "It went to no webhook."));
      } catch (error) {
        if (error.status !== 404) throw error;
      }
    }
    return found.length > 0 ? found : [element("p", { class: "hint" }, "None yet.")];
  }

  // MARK: Deliveries and usage

  deliveries(list, changed) {
    const head = ["Event", "Endpoint", "Status", "Attempts", "Next attempt", "Last failure", ""];
    return element("div", { class: "wide" }, element(
      "table", {},
      element("thead", {}, element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, ...list.map((delivery) => {
        const failure = delivery.last_failure;
        const retry = element("button", { type: "button", class: "plain" }, "Retry");
        retry.addEventListener("click", () => this.attempt(async () => {
          await this.call(`${DELIVERIES}/${delivery.id}/retry`, { method: "POST" });
          await changed();
        }));
        const [, session, end] = /^evt_([^_]+)_(.*)$/.exec(delivery.event) ?? [];
        return element(
          "tr", {}, cell(element("a", { href: `#session=vs_${session}` }, end ?? delivery.event)),
          cell(delivery.endpoint), cell(word(delivery.status)), cell(String(delivery.attempts)),
          cell(delivery.next_attempt_at === null ? "" : time(delivery.next_attempt_at)),
          cell(failure === null ? "" : `${failure.reason.replaceAll("_", " ")} ${failure.http_status ?? ""}`),
          cell(delivery.status === "dead" ? retry : ""));
      }))));
  }

  async listDeliveries(isMore) {
    const query = new URLSearchParams({ limit: "20", status: byId("delivery-status").value });
    if (isMore) query.set("starting_after", this.lastDelivery);
    const { data, has_more: hasMore } = await this.call(`${DELIVERIES}?${query}`);
    if (!isMore) byId("deliveries").replaceChildren();
    byId("deliveries").append(
      data.length > 0 ? this.deliveries(data, () => this.listDeliveries(false))
        : element("p", { class: "hint" }, "There is none."));
    this.lastDelivery = data.at(-1)?.id;
    show("more-deliveries", hasMore);
    if (!isMore) this.place("deliveries");
  }

  async readUsage() {
    const usage = await this.call("/v1/usage");
    const rows = [
      ["open_sessions", "Open sessions"], ["bytes", "Bytes kept"], ["idempotency_bytes", "Bytes of kept replies"],
    ];
    byId("usage").replaceChildren(...rows.map(([name, label]) => {
      const { used, limit } = usage[name];
      const bar = limit === null ? "" : element("meter", { value: used, max: limit, "aria-label": label });
      return element("div", {}, element("dt", {}, label), element(
        "dd", {}, `${used.toLocaleString()}${limit === null ? "" : ` of ${limit.toLocaleString()}`} `, bar));
    }));
    this.place("usage");
  }
}

new Console();
