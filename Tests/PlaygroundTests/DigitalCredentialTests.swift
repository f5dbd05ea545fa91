import Base
import Testing

extension PlaygroundTests {
  /// The page's own call of the Digital Credentials API, with a stub in place of the browser's wallets.
  @Suite struct DigitalCredentialTests {
    /// Notes what it is given and what the page submits, and answers what the mock wallet answers. The API key and the
    /// protocol are its arguments.
    private static let stub = """
      const [key, protocol] = arguments;
      const original = window.fetch;
      window.seen = { given: [], submitted: [] };
      window.fetch = (address, options) => {
        if (String(address).endsWith("/submit")) window.seen.submitted.push(JSON.parse(options.body));
        return original(address, options);
      };
      window.DigitalCredential ??= class {};
      Object.defineProperty(navigator.credentials, "get", {
        value: async (options) => {
          window.seen.given.push(structuredClone(options));
          const session = document.getElementById("session-id").textContent;
          const reply = await original("/v1/test/mock_responses", {
            method: "POST",
            headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
            body: JSON.stringify({ session, protocol, variant: "good" }),
          });
          window.seen.answer = await reply.json();
          return { id: "", type: "digital", ...window.seen.answer };
        },
      });
      """

    @Test(arguments: ["org-iso-mdoc", "openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned"])
    func `the request is passed on and the answer handed in, both unchanged`(name: String) async throws {
      try await withPage { page in
        try await page.browser.run(Self.stub, .string(page.mode.apiKey), .string(name))
        try await page.ask(by: "web")
        let shown = try await page.browser.text("#web-json pre")
        let requests = try JSON(parsing: Array(shown.utf8))
        #expect(requests.array?.count == 4)
        try await page.browser.click("#answer-browser")
        try await page.settle()
        #expect(try await page.browser.text("#problem:not([hidden])") == "")
        // In the browser, where members keep their order: WebDriver sorts them.
        let isUnchanged = try await page.browser.run(
          """
          const { given, submitted, answer } = window.seen;
          const text = (value) => JSON.stringify(value, null, 2);
          return {
            calls: given.length, submits: submitted.length, mediation: given[0].mediation,
            request: text(given[0].digital) === text({ requests: JSON.parse(arguments[0]) }),
            answer: text(submitted[0]) === text(answer), protocol: answer.protocol,
          };
          """, .string(shown))
        for (member, value) in [
          ("calls", 1), ("submits", 1), ("mediation", "required"), ("request", true), ("answer", true),
          ("protocol", .string(name)),
        ] as [(String, JSON)] {
          #expect(isUnchanged[member] == value, "\(member)")
        }
        #expect(try await page.browser.text("#banner") == "Verified")
      }
    }

    @Test func `a person who declines leaves the session open, and is told so`() async throws {
      try await withPage { page in
        try await page.browser.run(
          """
          window.DigitalCredential ??= class {};
          Object.defineProperty(navigator.credentials, "get", {
            value: async () => { throw new DOMException("declined", "NotAllowedError"); },
          });
          """)
        try await page.ask(by: "web")
        try await page.browser.click("#answer-browser")
        try await page.settle()
        #expect(try await page.browser.text("#problem:not([hidden])") == "NotAllowedError: declined")
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
  }
}
