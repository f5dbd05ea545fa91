import Base
import Bench
import FoundationEssentials
import Glibc
import Mock
import Sessions
import TestMode
import Testing

@testable import App

extension PlaygroundTests {
  /// The hosted page of a session, as a person meets it.
  @Suite struct HostedPageTests {
    /// A session with a page at this server.
    private static func session(
      in page: Page, by protocols: [String] = ["openid4vp"], back member: String? = "return_url"
    ) async throws -> JSON {
      let origin = page.mode.baseURL
      let back = JSON.string(origin + "/playground")
      let body: JSON = .members([
        "protocols": .array(protocols.map { .string($0) }),
        "origin": protocols == ["openid4vp"] ? nil : .string(origin),
        "purpose": "You must be old enough.", "return_url": member == "return_url" ? back : nil,
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
        // The secret is in no address any more.
        #expect(try await page.browser.run("return location.hash") == "")
        let image = try await page.browser.screenshot("hosted-page")
        let shown = try await page.browser.run("return document.getElementById('link').getAttribute('href')").string
        if let link = try Self.decodedQRCode(in: image) { #expect(link == shown) }
        let uri = try await page.requestURI()
        let id = try #require(session["id"]?.string)
        // Bound to this page: the code's hash follows the id.
        #expect(try #require(uri.wholeMatch(of: /.*\/vs_\w{22}\.[\w-]{43}\/request/)).output.contains(id))
        try await page.answerAsWallet(uri, in: session)
        try await page.browser.wait(until: "document.title.startsWith('Done')")
        try await page.browser.wait(until: "location.pathname === '/playground'")
        let query = try #require(await page.browser.run("return location.search").string)
        let prefix = "?session=\(id)&response_code="
        #expect(query.hasPrefix(prefix))
        // The playground, where it came back to, takes no query: that is JSON, and a page without an icon.
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
        for (variant, title) in [("good", "Done."), ("device-signature-zero", "That did not succeed")] {
          let session = try await Self.session(in: page, by: ["org-iso-mdoc"])
          try await Self.open(session, in: page)
          #expect(try await page.browser.count("#link:not([hidden]), #scan:not([hidden])") == 0)
          try await page.browser.wallet(.respond(page.mockAnswer(session, by: "org-iso-mdoc", variant: variant)))
          try await page.browser.tap("#browser")
          try await page.browser.wait(until: "document.title.startsWith('\(title)')")
          #expect(!(try await page.browser.text("main")).contains("Morgan"))
        }
        // Who was refused reads why, and goes back by the link.
        #expect(try await page.browser.text("#status").hasPrefix("The answer could not be confirmed."))
        #expect(try await page.browser.count("#back:not([hidden]) a[href*='session=']") == 1)
      }
    }

    @Test func `a page that may not wait asks less and less often, and still shows the end`() async throws {
      try await withPage { page in
        let session = try await Self.session(in: page)
        let id = try #require(session["id"]?.string.flatMap(SessionID.init))
        let waits = page.mode.server.updater.inForce.current.state.waits
        // Others use up the session's share.
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
        // At once, at once, and after 1, 3 and 7 seconds at the earliest.
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
        try await page.browser.wait(until: "location.pathname === '/playground'")
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
        try await page.browser.wait(until: "document.title === 'Nothing was shared'")
        let read = try await page.get("/v1/verification_sessions/\(declined["id"]?.string ?? "")")
        #expect(read["status"] == "canceled" && read["last_error"]?["code"] == "wallet.access_denied")

        let used = try await Self.session(in: page)
        let uri = try #require(used["requests"]?.array?.first?["data"]?["request_uri"]?.string)
        try await page.answerAsWallet(uri, in: used)
        try await Self.open(used, in: page)
        #expect(try await Self.title(page).hasPrefix("Done."))
        #expect(try await page.browser.count("#way:not([hidden])") == 0)

        let gone = try await Self.session(in: page)
        _ = try await page.post("/v1/verification_sessions/\(gone["id"]?.string ?? "")/redact", [:])
        try await Self.open(gone, in: page)
        #expect(try await Self.title(page) == "This page is no longer valid")
      }
    }

    @Test func `who lets the time pass is told so`() async throws {
      let late = Locked<Int64>(0)
      try await withPage(clock: { Timestamp.systemNow() + late.withLock { $0 } }) { page in
        try await Self.open(try await Self.session(in: page), in: page)
        late.withLock { $0 = 600 }
        try await page.browser.wait(until: "document.title === 'The time for an answer is over'")
      }
    }

    @Test(arguments: [
      ("de", "Test Shop bittet um Angaben aus Ihrer Wallet", "Führerschein"),
      ("ja", "Test Shopがウォレットの情報を求めています", "運転免許証"),
    ])
    func `it speaks other languages`(tag: String, title: String, document: String) async throws {
      try await withPage { page in
        try await page.browser.emulate(dark: true, width: 400)
        try await Self.open(try await Self.session(in: page), in: page, language: tag)
        #expect(try await page.browser.run("return document.documentElement.lang") == .string(tag))
        #expect(try await Self.title(page) == title)
        #expect(try await page.browser.text("#documents h2") == document)
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

    @Test(.enabled(if: getenv("MDOC_AXE") != nil, "MDOC_AXE names no axe.min.js"))
    func `axe finds nothing serious, in light and dark`() async throws {
      let axe = try String(contentsOfFile: String(cString: getenv("MDOC_AXE")), encoding: .utf8)
      try await withPage { page in
        for isDark in [false, true] {
          try await page.browser.emulate(dark: isDark, width: isDark ? 320 : 1280)
          try await Self.open(try await Self.session(in: page, by: ["org-iso-mdoc", "openid4vp"]), in: page)
          let found = try await page.browser.run(
            axe + """
              ;
              return axe.run(document).then(({ violations }) =>
                violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
                  .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`));
              """)
          #expect(found == [], "\(found)")
        }
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

    /// What zbarimg reads in an image; nil where it is not installed.
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
