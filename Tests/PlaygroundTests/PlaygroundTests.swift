import Base
import Longfellow
import TestSupport
import Testing

/// The page of test mode in a browser. One after the other: a browser takes what this machine has.
@Suite(.serialized, .inABrowser, .timeLimit(.minutes(5))) enum PlaygroundTests {}

extension PlaygroundTests {
  /// Asking, answering and the verdict, by mouse.
  @Suite struct VerificationTests {
    @Test func `it loads without an error, and nothing from elsewhere`() async throws {
      try await withPage { page in
        #expect(try await page.browser.text("h1") == "mdoc playground")
        #expect(try await page.browser.run("return document.getElementById('problem').hidden") == true)
        #expect(try await page.browser.count("#documents input[type=checkbox]:checked") == 8)
        let loaded = try await page.browser.run(
          "return performance.getEntriesByType('resource').map((entry) => new URL(entry.name).origin)")
        #expect(Set(loaded.array ?? []) == [.string(page.mode.baseURL)])
        #expect(try await page.browser.console() == [])
        // The policy is in force: a script in the page does not run, and the console says so.
        try await page.browser.run(
          """
          const script = document.createElement("script");
          script.textContent = "window.intruded = true";
          document.body.append(script);
          """)
        #expect(try await page.browser.run("return window.intruded === undefined") == true)
        #expect(try await page.browser.console().contains { $0.contains("Content Security Policy") })
      }
    }

    @Test func `a good answer shows the elements, the portrait, the age and every check`() async throws {
      try await withPage { page in
        try await page.ask()
        for text in ["apple-in-app", "\"merchant_identifier\":"] {
          #expect(try await page.browser.text("#requests-json").contains(text), "\(text)")
        }
        try await page.answer("good")
        #expect(try await page.browser.text("#banner") == "Verified")
        let result = try await page.browser.text("#result")
        for text in ["Family name", "Morgan", "Given names", "Ada", "1990-04-12", "21 or older: yes"] {
          #expect(result.contains(text), "\(text)")
        }
        try await page.browser.wait(until: "document.querySelector('img.portrait')?.naturalWidth > 0")
        let checks = try await page.browser.text("#checks")
        for text in ["mdoc.device_auth.signature_invalid", "ISO/IEC 18013-5:2021, 9.1.3.6", "✓ passed"] {
          #expect(checks.contains(text), "\(text)")
        }
        #expect(try await page.browser.count("#checks li.passed") > 50)
        #expect(try await page.browser.console() == [])
      }
    }

    @Test func `a wrong answer shows its code, its clause and no value`() async throws {
      try await withPage { page in
        try await page.ask()
        try await page.answer("good")
        try await page.ask()
        try await page.answer("element-changed")
        #expect(try await page.browser.text("#banner") == "Rejected mdoc.digest.mismatch")
        #expect(try await page.browser.text("#outcome .hint") == "As this way of answering announces.")
        #expect(try await page.browser.text("#checks li.failed").contains("ISO/IEC 18013-5:2021, 9.3.1"))
        #expect(try await page.browser.count("img.portrait") == 0)
        #expect(try await page.browser.count("#result dl") == 0)
        let all = try await page.browser.text("main")
        for value in ["Morgan", "1990-04-12", "M18013505"] { #expect(!all.contains(value), "\(value)") }
      }
    }

    @Test func `a request that the server refuses is explained`() async throws {
      try await withPage { page in
        try await page.browser.run(
          "for (const box of document.querySelectorAll('#documents input')) box.checked = false")
        try await page.browser.click("#make")
        try await page.settle()
        let problem = try await page.browser.text("#problem:not([hidden])")
        #expect(problem.contains("/documents"))
        #expect(problem.contains("api.invalid_request"))
        #expect(try await page.browser.count("#answer[hidden]") == 1)
      }
    }

    @Test(arguments: ["web", "openid4vp", "openid4vp-iso-18013-7-annex-b", "iso-18013-5-proximity"])
    func `it asks and answers by every other protocol`(family: String) async throws {
      try await withPage { page in
        let select = "document.getElementById('answer-protocol')"
        try await page.ask(by: family)
        let names = try await page.browser.run("return [...\(select).options].map((option) => option.value)")
        #expect(names.array?.count == (family == "web" ? 4 : 1))
        for name in names.array ?? [] {
          try await page.ask(by: family)
          try await page.browser.run("\(select).value = arguments[0]", name)
          try await page.answer("good")
          #expect(try await page.browser.text("#banner") == "Verified", "\(name)")
        }
      }
    }

    @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
    func `a proof of age is asked for by one button, verified, and refused the second time`() async throws {
      let circuits = try CircuitLibrary(folder: PublishedVectors.folder + "/longfellow/circuits")
      try await withPage(circuits: circuits) { page in
        try await page.browser.click("#preset-proof-of-age")
        try await page.settle()
        #expect(try await page.browser.text("#sent summary").isEmpty == false)
        #expect(
          try await page.browser.run("return [...document.querySelectorAll('#variant option')].length > 80") == true)
        try await page.answer("good")
        #expect(try await page.browser.text("#banner") == "Verified")
        let result = try await page.browser.text("#result")
        #expect(result.contains("eu.europa.ec.av.1") && result.contains("age_over_18"))
        #expect(result.contains("yes") && result.contains("zero knowledge"))
        #expect(!result.contains("Valid"))
        try await page.answer("good")
        #expect(try await page.browser.text("#problem:not([hidden])").contains("session.already_used"))
        #expect(try await page.browser.console().filter { !$0.contains("409") } == [])
        try await page.browser.click("#preset-proof-of-age")
        try await page.settle()
        try await page.answer("zk-namespace-other")
        #expect(try await page.browser.text("#banner") == "Rejected zk.namespace_mismatch")
        // The form asks for documents as they are.
        try await page.ask(by: "web")
        let offered = try await page.browser.run(
          "return [...document.querySelectorAll('#variant option')].map((option) => option.value)")
        let names = (offered.array ?? []).compactMap(\.string)
        #expect(names.contains("element-changed") && !names.contains("zk-tag-bit"))
      }
    }

    @Test(arguments: [
      "over-18", "over-21", "full-identity", "driving-licence", "proof-of-age-eu", "pid-eu", "my-number",
    ])
    func `what is ready to ask is answered and verified`(preset: String) async throws {
      try await withPage { page in
        try await page.browser.click("input[name=family][value='web']")
        try await page.browser.click("#preset-\(preset)")
        try await page.settle()
        try await page.answer("good")
        #expect(try await page.browser.text("#banner") == "Verified")
        #expect(try await page.browser.count("#result dl") > 0)
        try await page.browser.screenshot("playground-\(preset)")
      }
    }

    @Test func `request and answer are shown as they go, and beside it what is in them`() async throws {
      try await withPage { page in
        try await page.ask(by: "web")
        let request = try await page.browser.text("#requests-json")
        for text in [
          "\"deviceRequest\":", "deviceRequest: CBOR", "\"docRequests\": [", "\"dcapi\"", "request: its payload",
        ] {
          #expect(request.contains(text), "\(text)")
        }
        try await page.answer("good")
        let answer = try await page.browser.text("#contents")
        for text in ["What is submitted", "\"protocol\":", "\"issuerAuth\": ["] {
          #expect(answer.contains(text), "\(text)")
        }
        #expect(!answer.contains("Morgan"))
        try await page.ask(by: "web")
        #expect(try await page.browser.text("#contents") == "")
        #expect(try await page.browser.console() == [])
      }
    }

    @Test func `the status page shows a load, and stays as narrow as a phone`() async throws {
      try await withPage { page in
        for variant in ["good", "good", "element-changed"] {
          try await page.ask()
          try await page.answer(variant)
        }
        try await page.browser.open("\(page.mode.baseURL)/status")
        #expect(try await page.browser.text("main, body").contains("mdoc.digest.mismatch"))
        for isDark in [false, true] {
          try await page.browser.emulate(dark: isDark, width: isDark ? 400 : 1280)
          try await page.browser.screenshot("status-\(isDark ? "dark-400" : "light-1280")")
          #expect(
            try await page.browser.run("return document.documentElement.scrollWidth <= window.innerWidth") == true)
        }
        #expect(try await page.browser.console() == [])
      }
    }

    @Test func `ways of answering are found by name, meaning and code`() async throws {
      try await withPage { page in
        try await page.ask()
        let all = try await page.browser.count("#variant option")
        #expect(all > 100)
        try await page.browser.run(
          """
          const filter = document.getElementById("variant-filter");
          filter.value = "trust.issuer_unknown";
          filter.dispatchEvent(new Event("input"));
          """)
        let found = try await page.browser.count("#variant option")
        #expect(found > 0 && found < all)
        #expect(try await page.browser.text("#variant-about").contains("trust.issuer_unknown"))
      }
    }
  }
}
