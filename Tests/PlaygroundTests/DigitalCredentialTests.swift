import Base
import Mock
import Sessions
import Testing

extension PlaygroundTests {
  /// The browser's own Digital Credentials API, with its own wallet: on a relying party's page, on the hosted page, in
  /// a frame of another site, and on the playground.
  @Suite struct DigitalCredentialTests {
    private static let protocols = ProtocolFamily.web.protocolNames

    @Test func `the request is passed on and the answer handed in, both unchanged`() async throws {
      try await withPage { page in
        // Notes the browser's input and the page's submits.
        try await page.browser.run(
          """
          const { fetch } = window;
          const get = navigator.credentials.get.bind(navigator.credentials);
          window.fetch = (address, options) => {
            if (String(address).endsWith("/submit")) window.seen.submitted.push(JSON.parse(options.body));
            return fetch(address, options);
          };
          Object.defineProperty(navigator.credentials, "get", {
            value: (options) => { window.seen.given.push(structuredClone(options)); return get(options); },
          });
          """)
        for name in Self.protocols {
          try await page.browser.run("window.seen = { given: [], submitted: [] }")
          try await page.ask(by: "web")
          let shown = try await page.browser.text("#web-json pre")
          #expect(try JSON(parsing: Array(shown.utf8)).array?.count == 4)
          let id = try await page.browser.text("#session-id")
          let answer = try await page.mockAnswer(["id": .string(id)], by: name)
          try await page.browser.wallet(.respond(answer))
          try await page.browser.tap("#answer-browser")
          try await page.settle()
          #expect(try await page.browser.text("#problem:not([hidden])") == "")
          // In the browser, where members keep their order: WebDriver sorts them.
          let isUnchanged = try await page.browser.run(
            """
            const { given, submitted } = window.seen;
            const text = (value) => JSON.stringify(value, null, 2);
            return {
              calls: given.length, submits: submitted.length, mediation: given[0].mediation,
              request: text(given[0].digital) === text({ requests: JSON.parse(arguments[0]) }),
              answer: submitted[0],
            };
            """, .string(shown))
          for (member, value) in [
            ("calls", 1), ("submits", 1), ("mediation", "required"), ("request", true), ("answer", answer),
          ] as [(String, JSON)] {
            #expect(isUnchanged[member] == value, "\(name): \(member)")
          }
          #expect(try await page.browser.text("#banner") == "Verified")
        }
      }
    }

    @Test func `a person who declines leaves the session open, and is told so`() async throws {
      try await withPage { page in
        try await page.browser.wallet(.decline)
        try await page.ask(by: "web")
        try await page.browser.tap("#answer-browser")
        try await page.settle()
        #expect(try await page.browser.text("#problem:not([hidden])").hasPrefix("NotAllowedError: "))
        try await page.answer("good")
        #expect(try await page.browser.text("#banner") == "Verified")
      }
    }

    @Test func `protocols of apps are not offered to the browser`() async throws {
      try await withPage { page in
        try await page.ask()
        #expect(try await page.browser.count("#answer-browser:disabled") == 1)
        #expect(try await page.browser.count("#web-json") == 0)
      }
    }

    // MARK: The drop-in script

    /// The relying party's own page: the server's other name, which is another site.
    private static func site(of page: Page) -> String {
      page.mode.baseURL.replacing("127.0.0.1", with: "localhost")
    }

    private static func session(
      in page: Page, by name: String, origin: String, returns: Bool = false
    ) async throws -> JSON {
      let reply = try await page.post(
        "/v1/verification_sessions",
        .members([
          "protocols": [.string(name)], "origin": .string(origin),
          "return_url": returns ? .string(page.mode.baseURL + "/healthz") : nil,
          "documents": [
            [
              "doc_type": "org.iso.18013.5.1.mDL",
              "elements": [["namespace": "org.iso.18013.5.1", "identifier": "family_name"]],
            ]
          ],
        ]))
      #expect(reply["id"] != nil, "\(reply)")
      return reply
    }

    /// A page without a policy of its own, with a button that calls `mdoc.verify`.
    private static func openOwnPage(_ page: Page, at site: String, timesFaster factor: Int64 = 1) async throws {
      try await page.browser.open(site + "/healthz")
      try await page.browser.run(
        """
        const [server, factor] = arguments;
        const { setTimeout } = window;
        window.setTimeout = (run, pause) => setTimeout(run, pause / factor);
        document.body.insertAdjacentHTML("beforeend", "<button id=ask>Ask</button>");
        document.getElementById("ask").onclick = () => mdoc.verify({ session: window.session })
          .then((end) => { window.end = end; }, ({ name, code }) => { window.end = { name, code: String(code) }; });
        return new Promise((resolve) => {
          const script = document.createElement("script");
          script.src = `${server}/v1/js/mdoc.js`;
          script.onload = resolve;
          document.head.append(script);
        });
        """, .string(page.mode.baseURL), .integer(factor))
    }

    private static func ask(_ session: JSON, on page: Page) async throws {
      try await page.browser.run("window.session = arguments[0]; delete window.end", session)
      try await page.browser.tap("#ask")
    }

    private static func end(on page: Page) async throws -> JSON {
      try await page.browser.wait(until: "window.end !== undefined")
      return try await page.browser.run("return window.end")
    }

    private static func read(_ session: JSON, in page: Page, with code: JSON?) async throws -> JSON {
      let id = session["id"]?.string ?? ""
      let code = code?.string.map { "&response_code=" + $0 } ?? ""
      return try await page.get("/v1/verification_sessions/\(id)?expand[]=result" + code)
    }

    private static func expectResult(_ session: JSON, in page: Page, only code: JSON?) async throws {
      let refused = try await read(session, in: page, with: nil)
      #expect(refused["code"] == "session.response_code_mismatch", "\(refused)")
      #expect(try await read(session, in: page, with: code)["result"]?["documents"]?.array?.count == 1)
    }

    @Test func `on an own page the script submits, and says when nobody answers`() async throws {
      try await withPage { page in
        let site = Self.site(of: page)
        try await Self.openOwnPage(page, at: site)
        for name in Self.protocols {
          let session = try await Self.session(in: page, by: name, origin: site)
          try await page.browser.wallet(.respond(page.mockAnswer(session, by: name)))
          try await Self.ask(session, on: page)
          let end = try await Self.end(on: page)
          let expected: JSON = [
            "code": .null, "id": session["id"] ?? .null, "response_code": .null, "status": "verified",
          ]
          #expect(end == expected, "\(name)")
          // It was not opened by a link.
          #expect(try await Self.read(session, in: page, with: nil)["result"]?["documents"] != nil)
        }
        let open = try await Self.session(in: page, by: "org-iso-mdoc", origin: site)
        let brief = JSON.object(
          (open.object ?? []).filter { !["created", "expires_at"].contains($0.name) }
            + [.init("created", 0), .init("expires_at", 1)])
        for (behavior, name) in [(Browser.WalletBehavior.decline, "NotAllowedError"), (.wait, "TimeoutError")] {
          try await page.browser.wallet(behavior)
          try await Self.ask(brief, on: page)
          #expect(try await Self.end(on: page)["name"] == .string(name))
        }
        #expect(try await Self.read(open, in: page, with: nil)["status"] == "requires_input")
      }
    }

    @Test func `on the hosted page the answer is read with what the browser brings back`() async throws {
      try await withPage { page in
        for name in Self.protocols {
          let session = try await Self.session(in: page, by: name, origin: page.mode.baseURL, returns: true)
          try await page.browser.wallet(.respond(page.mockAnswer(session, by: name)))
          try await page.browser.open(session["url"]?.string ?? "")
          try await page.browser.wait(until: "document.getElementById('browser')?.checkVisibility()")
          try await page.browser.tap("#browser")
          try await page.browser.wait(until: "location.pathname === '/healthz'")
          let query = "new URLSearchParams(location.search)"
          #expect(try await page.browser.run("return \(query).get('session')") == session["id"], "\(name)")
          let code = try await page.browser.run("return \(query).get('response_code')")
          try await Self.expectResult(session, in: page, only: code)
        }
      }
    }

    @Test(arguments: [false, true])
    func `in a frame on another site it works with storage and without`(isBlocked: Bool) async throws {
      try await withPage(blocksStorage: isBlocked) { page in
        try await Self.openOwnPage(page, at: Self.site(of: page))
        for name in Self.protocols {
          let session = try await Self.session(in: page, by: name, origin: page.mode.baseURL)
          try await page.browser.wallet(.respond(page.mockAnswer(session, by: name)))
          try await Self.ask(session, on: page)
          try await page.browser.inside("dialog iframe") {
            try await page.browser.wait(until: "document.getElementById('browser')?.checkVisibility()")
            let hasStorage = try await page.browser.run(
              "try { return sessionStorage.length >= 0; } catch { return false; }")
            #expect(hasStorage == .bool(!isBlocked))
            try await page.browser.tap("#browser")
            try await page.browser.wait(until: "document.title.startsWith('Thank you')")
          }
          let end = try await Self.end(on: page)
          #expect(end["id"] == session["id"] && end["status"] == "verified" && end["code"] == .null, "\(end)")
          try await Self.expectResult(session, in: page, only: end["response_code"])
        }
      }
    }

    @Test func `verify settles: declined, closed, without a word, gone`() async throws {
      try await withPage(blocksStorage: true) { page in
        try await Self.openOwnPage(page, at: Self.site(of: page), timesFaster: 4)
        func session() async throws -> JSON {
          try await Self.session(in: page, by: "org-iso-mdoc", origin: page.mode.baseURL)
        }
        for (act, status, code) in [
          ("#decline", "canceled", "wallet.access_denied"), ("#browser", "requires_input", nil),
        ] as [(String, JSON, JSON?)] {
          try await page.browser.wallet(.decline)
          try await Self.ask(try await session(), on: page)
          try await page.browser.inside("dialog iframe") {
            try await page.browser.wait(until: "document.querySelector('\(act)')?.checkVisibility()")
            try await page.browser.tap(act)
            if act == "#browser" {
              try await page.browser.wait(until: "document.title.startsWith('You didn')")
            }
          }
          if act == "#browser" { try await page.browser.tap("dialog button") }
          let end = try await Self.end(on: page)
          #expect(end["status"] == status && end["code"] == code ?? .null && end["response_code"] == .null)
        }
        let redacted = try await session()
        _ = try await page.post("/v1/verification_sessions/\(redacted["id"]?.string ?? "")/redact", [:])
        try await Self.ask(redacted, on: page)
        #expect(try await Self.end(on: page)["status"] == "gone")
        // Routes that are not pages, and pages that no origin of the relying party may embed.
        let elsewhere: JSON = ["id": "vs_x", "url": .string(page.mode.baseURL + "/healthz#x")]
        try await Self.ask(elsewhere, on: page)
        #expect(try await Self.end(on: page)["code"] == "page.unreachable")
        let framed = try await session()
        try await Self.openOwnPage(
          page, at: page.mode.baseURL.replacing("127.0.0.1", with: "evil.localhost"), timesFaster: 4)
        try await Self.ask(framed, on: page)
        #expect(try await Self.end(on: page)["code"] == "page.unreachable")
        #expect(try await page.browser.count("dialog") == 0)
      }
    }
  }
}
