import Base
import Glibc
import Testing

extension PlaygroundTests {
  /// `/console`, where a relying party sees its sessions.
  @Suite struct ConsoleTests {
    private func open(_ page: Page, _ place: String = "sessions") async throws {
      try await page.browser.open(page.mode.baseURL + "/console#" + place)
      try await page.browser.wait(until: "document.body.dataset.ready === 'true'")
      try await settle(page, place.split(separator: "=")[0])
    }

    private func settle(_ page: Page, _ place: some StringProtocol) async throws {
      try await page.browser.wait(
        until: "!document.getElementById('place-\(place)').hidden && !document.body.hasAttribute('aria-busy')")
    }

    /// Sessions with every outcome, oldest first.
    private func sessions(_ page: Page) async throws -> [JSON] {
      let body: JSON = [
        "protocols": ["apple-in-app"], "template": "over-18", "client_reference_id": "order-17",
        "metadata": ["desk": "4"],
      ]
      var made: [JSON] = []
      for _ in 0..<4 { made.append(try await page.post("/v1/verification_sessions", body)) }
      for (session, variant) in [(made[0], "good"), (made[1], "device-signature-zero")] {
        let answer = try await page.mockAnswer(session, by: "apple-in-app", variant: variant)
        _ = try await page.post(Self.path(session) + "/submit", answer)
      }
      _ = try await page.post(Self.path(made[2]) + "/redact", [:])
      return made
    }

    private static func path(_ session: JSON) -> String { "/v1/verification_sessions/" + (session["id"]?.string ?? "") }

    @Test func `sessions are listed, filtered and opened, with report and events`() async throws {
      try await withPage { page in
        let made = try await sessions(page)
        try await open(page)
        #expect(try await page.browser.text("#mode") == "Test mode")
        #expect(try await page.browser.count("#sessions tr") == 4)
        #expect(try await page.browser.text("#sessions").contains("mdoc.device_auth.signature_invalid"))
        try await page.browser.run("document.getElementById('status').value = 'failed'")
        try await page.browser.click("#filter button")
        try await settle(page, "sessions")
        #expect(try await page.browser.count("#sessions tr") == 1)
        try await page.browser.click("#sessions a")
        try await settle(page, "session")
        let text = try await page.browser.text("#session")
        for part in ["failed", "order-17", "metadata.desk", "mdoc.device_auth.signature_invalid", "Passed: "] {
          #expect(text.contains(part), "\(part)")
        }
        #expect(text.contains("verification_session.failed") && text.contains("It went to no webhook."))
        #expect(try await page.browser.run("return history.length > 1 && document.activeElement.id") == "session-title")
        try await page.browser.run("history.back()")
        try await settle(page, "sessions")
        // The page has no value of a document, not even of a verified session.
        try await open(page, "session=" + (made[0]["id"]?.string ?? ""))
        #expect(try await page.browser.text("#session").contains("verification_session.verified"))
        #expect(try await page.browser.run("return document.body.textContent.includes('Morgan')") == false)
        try await open(page, "session=" + (made[2]["id"]?.string ?? ""))
        #expect(try await page.browser.text("#session").contains("They are erased."))
        try await page.browser.click("#places a[href='#usage']")
        try await settle(page, "usage")
        #expect(try await page.browser.text("#usage").contains("1 of 50,000"))
      }
    }

    @Test func `a key is in memory only, and a wrong one is told`() async throws {
      try await withPage { page in
        try await open(page)
        let kept = """
          return [localStorage.length, sessionStorage.length, document.cookie, location.href.includes(arguments[0]),
            document.documentElement.outerHTML.includes(arguments[0])]
          """
        let places = try await page.browser.run(kept, .string(page.mode.apiKey))
        #expect(places == [0, 0, "", false, false], "\(places)")
        try await page.browser.click("#sign-out")
        try await settle(page, "sign-in")
        #expect(try await page.browser.count("#sessions tr") == 0)
        for key in ["mdoc_test_wrong", "no key"] {
          try await page.browser.run("document.getElementById('key').value = arguments[0]", .string(key))
          try await page.browser.click("#sign-in button")
          try await page.browser.wait(until: "!document.getElementById('problem').hidden")
          #expect(try await page.browser.text("#problem") == "This key is unknown or has expired.")
          #expect(try await page.browser.run("return document.getElementById('places').hidden") == true)
        }
        try await page.browser.run("document.getElementById('key').value = arguments[0]", .string(page.mode.apiKey))
        try await page.browser.click("#sign-in button")
        try await settle(page, "sessions")
        #expect(try await page.browser.run("return document.getElementById('key').value") == "")
      }
    }

    @Test func `axe finds nothing in it, and nothing is wider than a phone's screen`() async throws {
      try await withPage { page in
        let made = try await sessions(page)
        for (width, isDark): (Int64, Bool) in [(1280, false), (390, true)] {
          try await page.browser.emulate(dark: isDark, width: width, phone: width == 390)
          for place in ["sessions", "session=" + (made[1]["id"]?.string ?? ""), "deliveries", "usage"] {
            try await open(page, place)
            let name = place.split(separator: "=")[0]
            try await page.browser.screenshot("console-\(name)-\(width)-\(isDark ? "dark" : "light")")
            let found = try await page.browser.accessibilityFindings()
            #expect(found == [], "\(name) \(width): \(found)")
            let widths = try await page.browser.run("return [innerWidth, document.documentElement.scrollWidth]")
            #expect(widths.array?.last?.integer ?? .max <= width, "\(name): \(widths)")
          }
        }
      }
    }
  }
}
