import App
import Base
import FoundationEssentials
import Glibc
import Longfellow
import PKIX
import Presentation
import TestSupport
import Testing

/// The page of test mode in a browser. Run one at a time, since a browser uses all of this machine.
@Suite(.serialized, .inABrowser, .timeLimit(.minutes(5))) enum PlaygroundTests {}

extension PlaygroundTests {
  /// The request, the response and the verdict, by mouse.
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

    @Test func `bytes of one's own are checked, under anchors of one's choice`() async throws {
      try await withPage { page in
        let session = try await page.post(
          "/v1/verification_sessions",
          [
            "protocols": ["org-iso-mdoc"], "origin": .string(page.mode.baseURL),
            "documents": [["doc_type": "org.iso.18013.5.1.mDL", "age_over": [18]]],
          ])
        let opened = try await page.post("/v1/test/opened_mock_responses", ["session": session["id"] ?? .null])
        let info = try #require(session["requests"]?.array?.first?["data"]?["encryptionInfo"]?.string)
        let response = try #require(opened["device_responses"]?.array?.first?.string.flatMap(Base64.decodeURLSafe))
        let transcript = AnnexCChallenge.transcript(encryptionInfo: info, origin: page.mode.baseURL).encoded
        try await page.browser.open(page.mode.baseURL + "/check")
        try await page.browser.wait(until: "document.body.dataset.ready === 'true'")
        try await page.browser.click("button[type=submit]")
        #expect(try await page.browser.text("#problem") == "DeviceResponse: give hexadecimal, base64 or a file.")
        let fill = """
          for (const [id, text] of Object.entries(arguments[0])) {
            document.getElementById(id).value = text;
            document.getElementById(id).dispatchEvent(new Event("input"));
          }
          """
        try await page.browser.run(
          fill,
          [
            "response": .string(Hex.encode(response).uppercased()),
            "transcript": .string(Base64.encode(transcript)),
          ])
        try await page.browser.click("button[type=submit]")
        try await page.settle()
        #expect(try await page.browser.text("#banner") == "Verified")
        #expect(try await page.browser.text("#checks").contains("mdoc.device_auth.signature_invalid"))
        // A file that is dropped on a field, and an anchor of another authority.
        try await page.browser.run(
          """
          const data = new DataTransfer();
          data.items.add(new File([Uint8Array.from(arguments[0])], "response.cbor"));
          const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
          document.getElementById("response").dispatchEvent(drop);
          """, .array(response.map { .integer(Int64($0)) }))
        try await page.browser.wait(until: "document.getElementById('response').value.startsWith('response.cbor: ')")
        try await page.browser.click("input[value=own]")
        let other = PEM.encode(certificate: try #require(page.mode.anchors.last).certificate)
        try await page.browser.run(fill, ["anchors": .string(other)])
        try await page.browser.click("button[type=submit]")
        try await page.settle()
        #expect(try await page.browser.text("#banner").hasPrefix("Rejected trust."))
        #expect(try await page.browser.console() == [])
      }
    }

    @Test func `the verdict is on the first screen, and says before what will come`() async throws {
      try await withPage { page in
        #expect(try await page.browser.text("#empty").hasPrefix("Nothing has been asked yet."))
        let isOnScreen = """
          const { top, bottom } = document.getElementById(arguments[0]).getBoundingClientRect();
          return top + scrollY >= 0 && bottom + scrollY < innerHeight;
          """
        #expect(try await page.browser.run(isOnScreen, "empty") == true)
        try await page.ask()
        #expect(try await page.browser.text("#empty").hasPrefix("The request is made."))
        try await page.answer("good")
        #expect(try await page.browser.run(isOnScreen, "banner") == true)
        #expect(try await page.browser.run("return document.getElementById('empty').hidden") == true)
        try await page.ask()
        #expect(try await page.browser.run("return document.getElementById('empty').hidden") == false)
        #expect(try await page.browser.count("#banner") == 0)
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
        // The form requests documents unchanged.
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

    @Test func `the hosted page of a request opens, and what it brings back is shown`() async throws {
      try await withPage { page in
        try await page.ask(by: "web")
        #expect(try await page.browser.count("#hosted:not([hidden])") == 1)
        try await page.browser.click("#hosted")
        try await page.browser.wait(until: "document.querySelector('#simulate button') !== null")
        try await page.browser.click("#simulate button[data-outcome=verified]")
        try await page.browser.wait(until: "document.getElementById('banner') !== null")
        #expect(try await page.browser.text("#banner").hasPrefix("Verified"))
        #expect(try await page.browser.run("return location.search") == "")
        // An app's session has no page.
        try await page.ask()
        #expect(try await page.browser.count("#hosted[hidden]") == 1)
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

    @Test func `the articles are read and searched under their policy`() async throws {
      let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
      let folder = FileManager.default.temporaryDirectory.path + "/mdoc-html-\(UInt64.random(in: 0...(.max)))"
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let making = try #require(popen("'\(root)/.deploy/html/make' '\(folder)' >/dev/null", "r"))
      try #require(pclose(making) == 0)
      try await withPage(documentation: try DocumentationSite(folder: folder)) { page in
        try await page.browser.open(page.mode.baseURL + "/docs")
        #expect(try await page.browser.text("h1") == "mdoc")
        #expect(try await page.browser.count("nav a") > 40)
        try await page.browser.run(
          "const field = document.getElementById('words'); field.value = 'nonce_id'; field.dispatchEvent(new Event('input'))"
        )
        #expect(try await page.browser.text("#found a").hasPrefix("Verify what you received"))
        try await page.browser.click("#found a")
        try await page.browser.wait(until: "document.title.startsWith('Verify what you received')")
        #expect(try await page.browser.console() == [])
        try await page.browser.screenshot("documentation")
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
