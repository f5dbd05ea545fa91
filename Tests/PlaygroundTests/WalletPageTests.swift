import Base
import TestMode
import Testing

extension PlaygroundTests {
  /// The wallet in the browser, reached from the hosted page.
  @Suite struct WalletPageTests {
    private static func session(in page: Page, back member: String = "return_url") async throws -> JSON {
      let reply = try await page.post(
        "/v1/verification_sessions",
        .members([
          "protocols": ["openid4vp"], member: .string(page.mode.baseURL + "/healthz"),
          "documents": [
            [
              "doc_type": "org.iso.18013.5.1.mDL", "age_over": [18],
              "elements": [
                ["namespace": "org.iso.18013.5.1", "identifier": "family_name", "intent_to_retain": true],
                ["namespace": "org.iso.18013.5.1", "identifier": "sex"],
              ],
            ]
          ],
        ]))
      #expect(reply["id"] != nil, "\(reply)")
      return reply
    }

    private static func isRead(_ page: Page) async throws {
      try await page.browser.wait(until: "document.querySelector('#answer:not([hidden])')")
      try await page.settle()
    }

    private static func choose(_ list: String, _ value: String, in page: Page) async throws {
      try await page.browser.run(
        "const list = document.getElementById(arguments[0]); list.value = arguments[1]; list.dispatchEvent(new Event('change'))",
        .string(list), .string(value))
    }

    @Test(
      arguments: [
        ("good", "Shared. The verifier took the response.", "verified", nil, "Thank you"),
        (
          nil, "You did not share anything. The verifier knows.", "canceled", "wallet.access_denied", "You didn’t share"
        ),
        ("mso-expired", "Refused: ", "failed", "mdoc.validity.expired", "We couldn’t confirm your document"),
      ] as [(String?, String, String, String?, String)])
    func `from the hosted page a person consents, declines or answers wrongly, and the page goes on`(
      variant: String?, said: String, status: String, code: String?, title: String
    ) async throws {
      try await withPage { page in
        let session = try await Self.session(in: page)
        try await page.browser.open(try #require(session["url"]?.string))
        try await page.browser.wait(until: "document.querySelector('#simulate:not([hidden]) #simulated-wallet')")
        try await page.browser.tap("#simulated-wallet")
        try await page.browser.inNewTab {
          try await Self.isRead(page)
          let consent = try await page.browser.text("#consent")
          for text in [
            "mdoc Mock Relying Party", "x509_hash:", "Mobile driving licence", "Family name family_name will be kept",
            "Sex sex", "age_over_18", "Nothing is wrong with this request.",
          ] {
            #expect(consent.contains(text), "\(text): \(consent)")
          }
          #expect(!consent.contains("Sex sex will be kept") && !consent.contains("Morgan"))
          #expect(try await page.browser.run("return document.activeElement.id") == "request-title")
          for (isDark, width) in [(false, 1280), (true, 390)] as [(Bool, Int64)] {
            try await page.browser.emulate(dark: isDark, width: width)
            try await page.browser.screenshot("wallet-\(width)")
            let found = try await page.browser.accessibilityFindings()
            #expect(found == [], "\(width): \(found)")
            #expect(
              try await page.browser.run("return document.documentElement.scrollWidth <= window.innerWidth") == true)
          }
          if let variant {
            try await Self.choose("variant", variant, in: page)
            try await page.browser.click("#answer-mock")
          } else {
            try await page.browser.click("#decline")
          }
          try await page.browser.wait(until: "document.getElementById('banner')")
          let banner = try await page.browser.text("#banner")
          #expect(banner.hasPrefix(said) && (status != "failed" || banner.hasSuffix(code ?? "")), "\(banner)")
          #expect(try await page.browser.accessibilityFindings() == [])
          #expect(try await page.browser.count("#answer[hidden]") == 1)
        }
        try await page.browser.wait(until: "document.title.startsWith('\(title)') || location.pathname === '/healthz'")
        let read = try await page.get("/v1/verification_sessions/\(session["id"]?.string ?? "")")
        #expect(read["status"]?.string == status && read["last_error"]?["code"]?.string == code, "\(read)")
      }
    }

    @Test func `without a page that waits, the wallet follows the redirect with the response code`() async throws {
      try await withPage { page in
        let session = try await Self.session(in: page, back: "redirect_uri")
        let link = session["requests"]?.array?.first?["data"]?["authorization_request"]?.string ?? ""
        try await page.browser.open("\(page.mode.baseURL)/wallet#\(link)")
        try await Self.isRead(page)
        // Of another age.
        try await Self.choose("person", "1", in: page)
        try await page.browser.click("#answer-mock")
        try await page.browser.wait(until: "location.pathname === '/healthz'")
        let code = try await page.browser.run("return location.hash.slice('#response_code='.length)").string ?? ""
        let read = try await page.get(
          "/v1/verification_sessions/\(session["id"]?.string ?? "")?expand[]=result&response_code=\(code)")
        let age = read["result"]?["documents"]?.array?.first?["age_over"]?.array?.first
        #expect(age?["answer"] == false, "\(read)")
      }
    }

    @Test func `a wallet without the document, and a link of another server, are explained`() async throws {
      try await withPage { page in
        let session = try await Self.session(in: page)
        let link = session["requests"]?.array?.first?["data"]?["authorization_request"]?.string ?? ""
        try await page.browser.open("\(page.mode.baseURL)/wallet#\(link)")
        try await Self.isRead(page)
        try await page.browser.click("#documents input")
        try await page.browser.click("#answer-mock")
        try await page.settle()
        #expect(try await page.browser.text("#problem:not([hidden])").contains("no document of type"))
        try await page.browser.run(
          "location.hash = 'openid4vp://?client_id=a&request_uri=https%3A%2F%2Fa.example%2Fb%2Fc'")
        try await page.browser.wait(until: "document.querySelector('#answer[hidden]')")
        try await page.settle()
        #expect(try await page.browser.text("#problem:not([hidden])").contains("must be the link of a session"))
      }
    }
  }
}
