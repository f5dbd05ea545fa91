// The drop-in script for a relying party's own pages: `const end = await mdoc.verify({ session })`.
//
// `session` is what your backend got when it made the session: `id`, `client_secret` and, as far as they are there,
// `url` and `digital_credential_requests`. The browser's Digital Credentials API is called if it is there and the
// session is for this page's origin; else the hosted page opens over yours. The result goes to your backend alone:
// here you get `{ id, status, code }`.

(() => {
  "use strict";
  const ended = (status) => !["requires_input", "processing"].includes(status);

  async function byBrowser(session, server) {
    const credential = await navigator.credentials.get({
      mediation: "required", digital: { requests: session.digital_credential_requests },
    });
    const reply = await fetch(`${server}/v1/verification_sessions/${session.id}/submit`, {
      method: "POST",
      headers: { Authorization: `Bearer ${session.client_secret}`, "Content-Type": "application/json" },
      body: JSON.stringify({ protocol: credential.protocol, data: credential.data }),
    });
    const { id, status, last_error: error, code, detail } = await reply.json();
    if (!reply.ok) throw Object.assign(new Error(detail), { code });
    return { id, status, code: error?.code ?? null };
  }

  /** The hosted page in a dialog. Closing the dialog ends nothing: the session can still be answered. */
  function byPage(session) {
    return new Promise((resolve) => {
      const origin = new URL(session.url).origin;
      const dialog = document.createElement("dialog");
      const frame = document.createElement("iframe");
      const close = document.createElement("button");
      Object.assign(dialog.style, { padding: "0", border: "0", borderRadius: "16px", width: "min(100vw, 34rem)", height: "min(100vh, 46rem)", overflow: "hidden" });
      Object.assign(frame.style, { width: "100%", height: "100%", border: "0" });
      Object.assign(close.style, { position: "absolute", insetBlockStart: "4px", insetInlineEnd: "8px", width: "44px", height: "44px", border: "0", background: "none", font: "24px system-ui", cursor: "pointer" });
      frame.src = session.url;
      frame.title = "Verification";
      frame.allow = `digital-credentials-get ${origin}`;
      close.textContent = "×";
      close.setAttribute("aria-label", "Close");
      close.addEventListener("click", () => dialog.close());
      const end = { id: session.id, status: "requires_input", code: null };
      const hear = ({ data, origin: from, source }) => {
        if (from !== origin || source !== frame.contentWindow || data?.type !== "mdoc.session") return;
        Object.assign(end, { status: data.status, code: data.code });
        if (ended(data.status)) setTimeout(() => dialog.close(), data.status === "verified" ? 1500 : 6000);
      };
      addEventListener("message", hear);
      dialog.addEventListener("close", () => {
        removeEventListener("message", hear);
        dialog.remove();
        resolve(end);
      });
      dialog.append(frame, close);
      document.body.append(dialog);
      dialog.showModal();
    });
  }

  const script = document.currentScript?.src;

  window.mdoc = Object.freeze({
    /** Resolves with `{ id, status, code }`; rejects with the browser's or the server's error. */
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
