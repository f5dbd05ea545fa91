// The drop-in script for a relying party's own pages: `const end = await mdoc.verify({ session })`.
//
// `session` is what your backend got when it made the session: `id`, `client_secret` and, as far as they are there,
// `url`, `origin`, `digital_credential_requests`, `created` and `expires_at`. The browser's Digital Credentials API is
// called if it is there and the session is for this page's origin; else the hosted page opens over yours. The result
// goes to your backend alone: here you get `{ id, status, code, response_code }`. Give your backend the
// `response_code`, if there is one: it needs it to read the result.

(() => {
  "use strict";
  const ended = (status) => !["requires_input", "processing"].includes(status);
  const fault = (code, text) => Object.assign(new Error(text), { code });

  /** Milliseconds that a session can be answered; an hour is the most. The two times are of one clock. */
  const lifetime = ({ created, expires_at }) => (expires_at > created ? expires_at - created : 3600) * 1000;

  async function byBrowser(session, server) {
    const credential = await navigator.credentials.get({
      mediation: "required", digital: { requests: session.digital_credential_requests },
      signal: AbortSignal.timeout(lifetime(session)),
    });
    const reply = await fetch(`${server}/v1/verification_sessions/${session.id}/submit`, {
      method: "POST",
      headers: { Authorization: `Bearer ${session.client_secret}`, "Content-Type": "application/json" },
      body: JSON.stringify({ protocol: credential.protocol, data: credential.data }),
      signal: AbortSignal.timeout(60000),
    });
    const { id, status, last_error: error, response_code = null, code, detail } = await reply.json();
    if (!reply.ok) throw fault(code, detail);
    return { id, status, code: error?.code ?? null, response_code };
  }

  /** The hosted page in a dialog. Closing the dialog ends nothing: the session can still be answered. */
  function byPage(session) {
    return new Promise((resolve, reject) => {
      const url = new URL(session.url);
      const dialog = document.createElement("dialog");
      const frame = document.createElement("iframe");
      const close = document.createElement("button");
      Object.assign(dialog.style, { padding: "0", border: "0", borderRadius: "16px", width: "min(100vw, 34rem)", maxWidth: "100vw", height: "min(100dvh, 50rem)", maxHeight: "100dvh", overflow: "hidden" });
      Object.assign(frame.style, { width: "100%", height: "100%", border: "0" });
      Object.assign(close.style, { position: "absolute", insetBlockStart: "4px", insetInlineEnd: "8px", width: "36px", height: "36px", border: "0", borderRadius: "50%", background: "rgb(0 0 0 / 55%)", color: "#fff", font: "20px/1 system-ui", cursor: "pointer" });
      // The page tells nobody else what came of it.
      frame.src = `${url.href}&${location.origin}`;
      frame.title = "Verification";
      frame.allow = `digital-credentials-get ${url.origin}`;
      close.textContent = "×";
      close.setAttribute("aria-label", "Close");
      close.addEventListener("click", () => dialog.close());
      const end = { id: session.id, status: "requires_input", code: null, response_code: null };
      const timers = [];
      const after = (pause, run) => timers.push(setTimeout(run, pause));
      let hasSpoken = false;
      const hear = ({ data, origin, source }) => {
        if (origin !== url.origin || source !== frame.contentWindow || data?.type !== "mdoc.session") return;
        hasSpoken = true;
        Object.assign(end, { status: data.status, code: data.code, response_code: data.response_code ?? null });
        if (ended(data.status)) after(data.status === "verified" ? 1500 : 6000, () => dialog.close());
      };
      const settle = (error) => {
        timers.forEach(clearTimeout);
        removeEventListener("message", hear);
        dialog.remove();
        if (error) reject(error);
        else resolve(end);
      };
      // A frame that was blocked or did not load says nothing, whatever the reason: browsers tell none.
      const expectWord = () => hasSpoken || settle(fault("page.unreachable", "The page did not load, or may not be in a frame here."));
      frame.addEventListener("load", () => after(5000, expectWord));
      after(30000, expectWord);
      after(lifetime(session) + 30000, () => settle());
      addEventListener("message", hear);
      dialog.addEventListener("close", () => settle());
      dialog.append(frame, close);
      document.body.append(dialog);
      dialog.showModal();
    });
  }

  const script = document.currentScript?.src;

  window.mdoc = Object.freeze({
    /** Resolves with `{ id, status, code, response_code }`; rejects with the browser's or the server's error. */
    async verify({ session, server = script && new URL(script).origin }) {
      const requests = session.digital_credential_requests ?? [];
      const hasAPI = window.DigitalCredential !== undefined && navigator.credentials !== undefined;
      // A session that is for the hosted page's own origin is answered there.
      const isForPage = session.url !== undefined && session.origin === new URL(session.url).origin;
      if (hasAPI && requests.length > 0 && !isForPage) return byBrowser(session, server);
      if (session.url !== undefined) return byPage(session);
      throw new Error("This browser has no Digital Credentials API, and the session has no page.");
    },
  });
})();
