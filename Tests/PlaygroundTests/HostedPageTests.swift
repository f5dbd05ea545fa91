import Base
import FoundationEssentials
import Glibc
import Mock
import Sessions
import TestMode
import Testing

@testable import App

extension PlaygroundTests {
  /// The hosted page of a session, as a person uses it.
  @Suite struct HostedPageTests {
    /// A session with a page at this server.
    private static func session(
      in page: Page, by protocols: [String] = ["openid4vp"], back member: String? = "return_url"
    ) async throws -> JSON {
      let origin = page.mode.baseURL
      let back = JSON.string(origin + "/healthz")
      let body: JSON = .members([
        "protocols": .array(protocols.map { .string($0) }),
        "origin": protocols == ["openid4vp"] ? nil : .string(origin),
        "purpose": "You must be old enough.",
        "purpose_translations": ["de": "Sie müssen alt genug sein.", "pt-BR": "x"],
        "return_url": member == "return_url" ? back : nil,
        "redirect_uri": member == "redirect_uri" ? back : nil,
        "documents": [
          [
            "doc_type": "org.iso.18013.5.1.mDL", "age_over": [18],
            "elements": [["namespace": "org.iso.18013.5.1", "identifier": "family_name"]],
          ]
        ],
      ])
      let reply = try await page.post("/v1/verification_sessions", body)
      #expect(reply["url"] != nil, "\(reply)")
      return reply
    }

    private static func open(_ session: JSON, in page: Page, language: String? = nil) async throws {
      let url = try #require(session["url"]?.string)
      let parts = url.split(separator: "#")
      try await page.browser.open(parts[0] + (language.map { "?lang=\($0)" } ?? "") + "#" + parts[1])
      try await page.browser.wait(until: "document.getElementById('main')?.hasAttribute('aria-busy') === false")
    }

    private static func title(_ page: Page) async throws -> String { try await page.browser.text("#title") }

    @Test func `a second device scans the code, its wallet answers, and the page goes on by itself`() async throws {
      try await withPage { page in
        let session = try await Self.session(in: page)
        try await Self.open(session, in: page)
        #expect(try await page.browser.text("#purpose") == "You must be old enough.")
        #expect(try await page.browser.text("#documents").contains("18 or older"))
        try await page.browser.wait(until: "document.getElementById('qr').naturalWidth > 0")
        // The address no longer contains the secret.
        #expect(try await page.browser.run("return location.hash") == "")
        let image = try await page.browser.screenshot("hosted-page")
        let shown = try await page.browser.run("return document.getElementById('link').getAttribute('href')").string
        if let link = try Self.decodedQRCode(in: image) { #expect(link == shown) }
        let uri = try await page.requestURI()
        let id = try #require(session["id"]?.string)
        // Bound to this page: the code's hash follows the id.
        #expect(try #require(uri.wholeMatch(of: /.*\/vs_\w{22}\.[\w-]{43}\/request/)).output.contains(id))
        try await page.answerAsWallet(uri, in: session)
        try await page.browser.wait(until: "document.title.startsWith('Thank you')")
        try await page.browser.wait(until: "location.pathname === '/healthz'")
        let query = try #require(await page.browser.run("return location.search").string)
        let prefix = "?session=\(id)&response_code="
        #expect(query.hasPrefix(prefix))
        // The address that it returned to takes no query: it is JSON, a page without an icon.
        let complaints = try await page.browser.console().filter { !$0.contains("400") && !$0.contains("favicon") }
        #expect(complaints == [])
        let path = "/v1/verification_sessions/\(id)?expand[]=result"
        #expect(try await page.get(path)["code"] == "session.response_code_mismatch")
        let read = try await page.get(path + "&response_code=" + query.dropFirst(prefix.count))
        #expect(read["result"]?["documents"] != nil, "\(read)")
      }
    }

    @Test func `by the browser's own way the answer is handed in, and a refused one shown without its values`()
      async throws
    {
      try await withPage { page in
        for (variant, title) in [("good", "Thank you"), ("device-signature-zero", "We couldn’t confirm your document")]
        {
          let session = try await Self.session(in: page, by: ["org-iso-mdoc"])
          try await Self.open(session, in: page)
          #expect(try await page.browser.count("#link:not([hidden]), #scan:not([hidden])") == 0)
          try await page.browser.wallet(.respond(page.mockAnswer(session, by: "org-iso-mdoc", variant: variant)))
          try await page.browser.tap("#browser")
          try await page.browser.wait(until: "document.title.startsWith('\(title)')")
          #expect(!(try await page.browser.text("main")).contains("Morgan"))
        }
        // A refused person reads the reason, and goes back by the link.
        #expect(try await page.browser.text("#status") == "Nothing of it was passed on to Test Shop.")
        #expect(try await page.browser.count("#back:not([hidden]) a[href*='session=']") == 1)
      }
    }

    @Test func `a page that may not wait asks less and less often, and still shows the end`() async throws {
      try await withPage { page in
        let session = try await Self.session(in: page)
        let id = try #require(session["id"]?.string.flatMap(SessionID.init))
        let waits = page.mode.server.updater.inForce.current.state.waits
        // Other requests use up the session's share.
        let held = (0..<4).compactMap { _ in
          waits.enter(id, of: TestServer.relyingPartyID, from: nil, atMost: .seconds(60)) { Set($0) }
        }
        #expect(held.count == 4)
        try await Self.open(session, in: page)
        try await Task.sleep(for: .seconds(8))
        let count = try await page.browser.run(
          """
          return performance.getEntriesByType('resource')
            .filter(({ name }) => name.split('?')[0].endsWith('/page')).length
          """)
        // Twice at once, and after 1, 3 and 7 seconds at the earliest.
        #expect((2...5).contains(count.integer ?? 0), "\(count)")
        _ = try await page.post("/v1/verification_sessions/\(id.text)/cancel", [:])
        // Coming back to the page ends its pause. The secret has ended with the session.
        try await page.browser.run("document.dispatchEvent(new Event('visibilitychange'))")
        try await page.browser.wait(until: "document.title === 'This page is no longer valid'")
        for wait in held { waits.leave(wait) }
      }
    }

    @Test func `without return_url an answer by the browser's own way goes back to redirect_uri`() async throws {
      try await withPage { page in
        let session = try await Self.session(in: page, by: ["org-iso-mdoc", "openid4vp"], back: "redirect_uri")
        try await page.browser.wallet(.respond(page.mockAnswer(session, by: "org-iso-mdoc")))
        try await Self.open(session, in: page)
        try await page.browser.tap("#browser")
        try await page.browser.wait(until: "location.pathname === '/healthz'")
        let code = try await page.browser.run("return new URLSearchParams(location.hash.slice(1)).get('response_code')")
        let path = "/v1/verification_sessions/\(session["id"]?.string ?? "")?expand[]=result&response_code="
        #expect(try await page.get(path + (code.string ?? ""))["result"]?["documents"] != nil)
      }
    }

    @Test func `a page from which no code would come back asks for nothing`() async throws {
      try await withPage { page in
        let session = try await Self.session(in: page, by: ["org-iso-mdoc", "openid4vp"], back: nil)
        try await Self.open(session, in: page)
        #expect(try await Self.title(page) == "This page is no longer valid")
        #expect(try await page.browser.run("return document.getElementById('way').checkVisibility()") == false)
        #expect(try await page.browser.console().contains { $0.contains("needs a return_url") })
      }
    }

    @Test func `who declines, comes too late or opens it again is told so`() async throws {
      try await withPage { page in
        let declined = try await Self.session(in: page, by: ["org-iso-mdoc"])
        try await Self.open(declined, in: page)
        try await page.browser.click("#decline")
        try await page.browser.wait(until: "document.title === 'You didn’t share anything'")
        let read = try await page.get("/v1/verification_sessions/\(declined["id"]?.string ?? "")")
        #expect(read["status"] == "canceled" && read["last_error"]?["code"] == "wallet.access_denied")

        let used = try await Self.session(in: page)
        let uri = try #require(used["requests"]?.array?.first?["data"]?["request_uri"]?.string)
        try await page.answerAsWallet(uri, in: used)
        try await Self.open(used, in: page)
        #expect(try await Self.title(page).hasPrefix("Thank you"))
        #expect(try await page.browser.count("#way:not([hidden])") == 0)

        let gone = try await Self.session(in: page)
        _ = try await page.post("/v1/verification_sessions/\(gone["id"]?.string ?? "")/redact", [:])
        try await Self.open(gone, in: page)
        #expect(try await Self.title(page) == "This page is no longer valid")
      }
    }

    @Test(arguments: [
      ("verified", "verified"), ("mso-expired", "failed"), ("device-signature-bit-flipped", "failed"),
      ("canceled", "canceled"), ("expired", "expired"),
    ])
    func `in test mode an outcome is simulated without a wallet`(
      button: String, status: String
    ) async throws {
      try await withPage { page in
        let session = try await Self.session(in: page)
        try await Self.open(session, in: page)
        #expect(try await page.browser.text("#test").contains("nothing that is shown here is real"))
        try await page.browser.click("#simulate button[data-outcome=\(button)]")
        if status == "verified" {
          try await page.browser.wait(until: "location.pathname === '/healthz'")
          // The code that the browser returns with reads the result.
          let query = try await page.browser.run("return location.search").string ?? ""
          let code = try #require(query.split(separator: "response_code=").last.map(String.init))
          let path = "/v1/verification_sessions/\(session["id"]?.string ?? "")"
          let read = try await page.get(path + "?expand[]=result&response_code=" + code)
          #expect(read["status"] == "verified" && read["result"]?["documents"] != nil)
        } else {
          try await page.browser.wait(until: "document.getElementById('way').hidden")
          let path = "/v1/verification_sessions/\(session["id"]?.string ?? "")"
          #expect(try await page.get(path)["status"]?.string == status)
          #expect(try await page.browser.run("return document.getElementById('simulate').hidden") == true)
        }
        _ = try await page.browser.screenshot("simulated-\(button)")
      }
    }

    @Test func `who lets the time pass is told so`() async throws {
      let late = Locked<Int64>(0)
      try await withPage(clock: { Timestamp.systemNow() + late.withLock { $0 } }) { page in
        try await Self.open(try await Self.session(in: page), in: page)
        late.withLock { $0 = 600 }
        try await page.browser.wait(until: "document.title === 'This request has ended'")
      }
    }

    @Test(arguments: [
      ("de", "Angaben aus Ihrem Führerschein mit Test Shop teilen", "Nachname"),
      ("ja", "運転免許証の情報をTest Shopと共有", "姓"),
    ])
    func `it speaks other languages`(tag: String, title: String, element: String) async throws {
      try await withPage { page in
        try await page.browser.emulate(dark: true, width: 400)
        try await Self.open(try await Self.session(in: page), in: page, language: tag)
        #expect(try await page.browser.run("return document.documentElement.lang") == .string(tag))
        #expect(try await Self.title(page) == title)
        #expect(try await page.browser.text("#documents").contains(element))
        let purpose = tag == "de" ? "Sie müssen alt genug sein." : "You must be old enough."
        #expect(try await page.browser.text("#purpose") == purpose)
        _ = try await page.browser.screenshot("hosted-page-\(tag)")
      }
    }

    @Test func `nothing is wider than a screen of 320 pixels, in no language`() async throws {
      try await withPage { page in
        try await page.browser.emulate(dark: false, width: 320)
        try await Self.open(try await Self.session(in: page, by: ["org-iso-mdoc", "openid4vp"]), in: page)
        for tag in ["en", "de", "es", "fr", "ja"] {
          try await page.browser.run(
            """
            const list = document.getElementById("language");
            list.value = arguments[0];
            list.dispatchEvent(new Event("change"));
            """, .string(tag))
          try await page.browser.wait(until: "document.documentElement.lang === '\(tag)'")
          #expect(try await page.browser.run("return document.documentElement.scrollWidth <= 320") == true, "\(tag)")
        }
      }
    }

    /// The way to each state of the page.
    private static let states:
      [(name: String, protocols: [String], reach: @Sendable (Page, JSON) async throws -> Void)] = [
        ("asked-browser", ["org-iso-mdoc", "openid4vp"], { _, _ in }),
        ("asked-scan", ["openid4vp"], { page, _ in try await shown(page, "!document.getElementById('scan').hidden") }),
        (
          "waiting", ["org-iso-mdoc"],
          { page, _ in
            try await page.browser.wallet(.wait)
            try await page.browser.tap("#browser")
            try await shown(page, "document.title === 'Waiting for your wallet'")
          }
        ),
        (
          "declined", ["org-iso-mdoc"],
          { page, _ in
            try await page.browser.wallet(.decline)
            try await page.browser.tap("#browser")
            try await shown(page, "!document.getElementById('again').hidden && document.activeElement.id === 'title'")
          }
        ),
        (
          "scanned", ["openid4vp"],
          { page, session in
            // Until the page waits, a wallet's visit is not noticed.
            try await Task.sleep(for: .seconds(1))
            let path = session["requests"]?.array?.first?["data"]?["request_uri"]?.string ?? ""
            try await page.browser.run("return fetch(arguments[0]).then(() => 0)", .string(path))
            try await shown(page, "document.title === 'Continue on your phone'")
          }
        ),
        ("failed", ["openid4vp"], { page, _ in try await simulate(page, "mso-expired") }),
        ("expired", ["openid4vp"], { page, _ in try await simulate(page, "expired") }),
        ("canceled", ["openid4vp"], { page, _ in try await simulate(page, "canceled") }),
        ("verified", ["openid4vp"], { page, _ in try await simulate(page, "verified") }),
        (
          "impossible", ["org-iso-mdoc"],
          { page, _ in
            try await page.browser.run(
              "delete window.DigitalCredential; document.getElementById('language').dispatchEvent(new Event('change'))")
            try await shown(page, "document.title === 'No wallet can be reached from here'")
          }
        ),
      ]

    private static func shown(_ page: Page, _ condition: String) async throws {
      try await page.browser.wait(until: condition)
    }

    private static func simulate(_ page: Page, _ outcome: String) async throws {
      try await page.browser.click("#simulate button[data-outcome=\(outcome)]")
      try await shown(page, "!document.getElementById('back').hidden")
    }

    @Test(.enabled(if: getenv("MDOC_AXE") != nil, "MDOC_AXE names no axe.min.js"))
    func `axe finds nothing in any state, in light and dark, on a desktop and on a phone`() async throws {
      // Screenshots cover all screens.
      let screens: [(width: Int64, isDark: Bool)] =
        getenv("MDOC_SCREENSHOTS") == nil
        ? [(1280, false), (390, true)]
        : [(1280, false), (1280, true), (768, false), (768, true), (390, false), (390, true)]
      for (width, isDark) in screens {
        try await withPage { page in
          for (name, protocols, reach) in Self.states {
            try await page.browser.emulate(dark: isDark, width: width, phone: width == 390)
            if width == 390, ["asked-scan", "scanned"].contains(name) { continue }
            let session = try await Self.session(in: page, by: protocols)
            try await Self.open(session, in: page)
            try await reach(page, session)
            try await page.browser.screenshot("page-\(name)-\(width)-\(isDark ? "dark" : "light")")
            if name == "verified" { continue }
            let found = try await page.browser.accessibilityFindings()
            #expect(found == [], "\(name) \(width): \(found)")
          }
        }
      }
    }

    @Test func `on a phone the link comes first, no code is shown, and the action stays in reach`() async throws {
      try await withPage { page in
        try await page.browser.emulate(dark: false, width: 390, phone: true)
        try await Self.open(try await Self.session(in: page), in: page)
        #expect(try await page.browser.count("#first > #link:not([hidden])") == 1)
        #expect(try await page.browser.count("#scan:not([hidden])") == 0)
        let position = try await page.browser.run("return getComputedStyle(document.getElementById('first')).position")
        #expect(position == "fixed")
      }
    }

    @Test func `who declines in the wallet reads so, and may try again`() async throws {
      try await withPage { page in
        let session = try await Self.session(in: page, by: ["org-iso-mdoc"])
        try await Self.open(session, in: page)
        try await page.browser.wallet(.decline)
        try await page.browser.tap("#browser")
        try await page.browser.wait(until: "document.title === 'You didn’t share anything'")
        #expect(try await page.browser.run("return document.activeElement.id") == "title")
        try await page.browser.wallet(.respond(page.mockAnswer(session, by: "org-iso-mdoc")))
        try await page.browser.click("#again")
        try await page.browser.wait(until: "!document.getElementById('ask').hidden")
        try await page.browser.tap("#browser")
        try await page.browser.wait(until: "location.pathname === '/healthz'")
      }
    }

    @Test func `an age alone is the title, and a seventh row folds`() async throws {
      try await withPage { page in
        func ask(_ elements: [String]) async throws {
          let names: [JSON] = elements.map { ["namespace": "org.iso.18013.5.1", "identifier": .string($0)] }
          let reply = try await page.post(
            "/v1/verification_sessions",
            [
              "protocols": ["openid4vp"], "return_url": .string(page.mode.baseURL + "/healthz"),
              "documents": [["doc_type": "org.iso.18013.5.1.mDL", "age_over": [21], "elements": .array(names)]],
            ])
          try await Self.open(reply, in: page)
        }
        try await ask([])
        #expect(try await Self.title(page) == "Show Test Shop that you are 21 or older")
        try await ask([
          "given_name", "portrait", "family_name", "birth_date", "resident_city", "sex", "height", "weight",
        ])
        #expect(try await Self.title(page) == "Share details from your driving licence with Test Shop")
        #expect(try await page.browser.count("#documents > ul > li.row") == 4)
        #expect(try await page.browser.text("#documents summary") == "4 more")
        let rows = try await page.browser.run(
          "return [...document.querySelectorAll('#documents li.row')].map((row) => row.lastChild.textContent)")
        #expect(
          rows.array?.prefix(2) == [
            "That you are 21 or olderA yes or no, not your date of birth", "Your nameGiven names, Family name",
          ])
      }
    }

    @Test(arguments: [("#ffeb3b", "#ffffff"), ("#0b1020", "#8ab4f8"), ("#7a3e9d", "#2e7d32")])
    func `any colour can be read in both themes`(colour: String, other: String) async throws {
      try await withPage { page in
        try await page.browser.open(page.mode.baseURL + "/healthz")
        let lowest = try await page.browser.run(
          """
          return import("/assets/brand.js").then(({ brandColours }) => {
            const luminance = (rgb) => {
              const [red, green, blue] = rgb.map((value) => value / 255)
                .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
              return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
            };
            const contrast = (one, two) => {
              const [dark, light] = [luminance(one), luminance(two)].sort((a, b) => a - b);
              return (light + 0.05) / (dark + 0.05);
            };
            const read = (text) => text.match(/\\d+/g).map(Number);
            return Math.min(...arguments[0].flatMap((colour) => {
              const made = brandColours(colour);
              return [["light", [255, 255, 255]], ["dark", [23, 27, 34]]].flatMap(([theme, card]) => [
                contrast(read(made[`--brand-${theme}`]), card),
                contrast(read(made[`--brand-${theme}`]), read(made[`--on-brand-${theme}`])),
              ]);
            })) >= 4.5;
          });
          """, [.string(colour), .string(other)])
        #expect(lowest == true)
      }
    }

    @Test func `the drop-in script opens the page over the relying party's own`() async throws {
      try await withPage { page in
        let session = try await Self.session(in: page)
        // A page of the relying party without a policy of its own.
        try await page.browser.open(page.mode.baseURL + "/healthz")
        try await page.browser.run(
          """
          const [session] = arguments;
          const script = document.createElement("script");
          script.src = "/v1/js/mdoc.js";
          script.onload = () => mdoc.verify({ session }).then((end) => { window.end = end; });
          document.head.append(script);
          """, session)
        try await page.browser.wait(until: "document.querySelector('dialog[open] iframe') !== null")
        var uri = ""
        try await page.browser.inside("dialog iframe") { uri = try await page.requestURI() }
        try await page.answerAsWallet(uri, in: session)
        try await page.browser.wait(until: "window.end !== undefined")
        let end = try await page.browser.run("return window.end")
        #expect(end["id"] == session["id"] && end["status"] == "verified" && end["code"] == .null)
        let path = "/v1/verification_sessions/\(session["id"]?.string ?? "")?expand[]=result&response_code="
        let read = try await page.get(path + (end["response_code"]?.string ?? ""))
        #expect(read["result"]?["documents"] != nil, "\(read)")
        #expect(try await page.browser.count("dialog") == 0)
      }
    }

    /// zbarimg's reading of an image; nil if it is not installed.
    private static func decodedQRCode(in image: [UInt8]) throws -> String? {
      guard access("/usr/bin/zbarimg", X_OK) == 0 else {
        #expect(!DriverProcess.isRequired, "zbarimg is not here: apt-get install zbar-tools")
        return nil
      }
      let folder = FileManager.default.temporaryDirectory.path + "/mdoc-qr-\(UInt32.random(in: 0...(.max)))"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      try Data(image).write(to: URL(filePath: folder + "/page.png"))
      let pipe = popen("/usr/bin/zbarimg -q --raw '\(folder)/page.png'", "r")
      defer { pclose(pipe) }
      var text = [UInt8](repeating: 0, count: 8192)
      let count = fread(&text, 1, text.count, pipe)
      return String(decoding: text[..<count], as: UTF8.self).split(separator: "\n").first.map(String.init)
    }
  }
}
