import Base
import FoundationEssentials
import Glibc
import Sessions
import TestMode
import TestSupport
import Testing

extension PlaygroundTests {
  /// The sample shops of the articles, as printed, with a visitor in a browser.
  @Suite struct SampleShopTests {
    private static let article =
      #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
      + "/Sources/Tool/Documentation.docc/TryYourOwnSite.md"

    /// The block below `<!-- sample: NAME -->`.
    private static func program(_ name: String) throws -> String {
      let text = String(decoding: try #require(FileManager.default.contents(atPath: article)), as: UTF8.self)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let mark = try #require(lines.firstIndex { $0 == "<!-- sample: \(name) -->" })
      let block = lines[(mark + 2)...].prefix { $0 != "```" }
      #expect(block.count <= 150)
      return block.joined(separator: "\n") + "\n"
    }

    @Test(arguments: [("shop.py", "python3"), ("shop.js", "node")])
    func `a visitor is asked, comes back, and is served by the result`(name: String, interpreter: String) async throws {
      try #require(DriverProcess.isHere)
      let port = try Self.freePort()
      let site = "http://localhost:\(port)"
      var options = TestModeOptions()
      options.origins = [site]
      options.webhookURL = "http://127.0.0.1:\(port)/hooks"
      options.page = HostedPage(name: "Tea and Wine", color: "#7a3e9d")
      let mode = try TestServer.start(options)
      defer { Task { await mode.server.stop(drainSeconds: 0) } }
      let folder = FileManager.default.temporaryDirectory.appending(path: "mdoc-shop-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let path = folder.path + "/" + name
      try Data(Self.program(name).utf8).write(to: URL(filePath: path))
      let secret = try #require(mode.webhook?.secrets.first?.exposed)
      let shop = try DriverProcess(
        ["/usr/bin/env", interpreter, path],
        environment: [
          "MDOC_URL": mode.baseURL, "MDOC_KEY": mode.apiKey, "MDOC_WEBHOOK_SECRET": secret, "PORT": "\(port)",
        ], announcing: "http://localhost:")
      #expect(shop.port == port)
      let browser = try await Browser(of: DriverProcess())
      do {
        try await Self.buy(browser, at: site, "verified", "Cheers!", "verification_session.verified")
        try await Self.buy(browser, at: site, "device-signature-bit-flipped", "No wine: failed", nil)
        try await Self.buy(browser, at: site, "canceled", "No wine: canceled", "verification_session.canceled")
        // A link from someone else's session.
        let address = try await browser.run("return location.href").string ?? ""
        try await browser.run("document.cookie = 'visitor=; Max-Age=0; Path=/'; return 1")
        try await browser.open(address.replacing("session=vs_", with: "session=vs_A"))
        #expect(try await browser.text("#outcome") == "This is not your session.")
      } catch {
        await browser.end()
        throw error
      }
      await browser.end()
    }

    /// A currently free port.
    private static func freePort() throws -> UInt16 {
      let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(socket) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
        }
      }
      try #require(isBound)
      return UInt16(bigEndian: address.sin_port)
    }

    private static func buy(
      _ browser: Browser, at site: String, _ outcome: String, _ said: String, _ event: String?
    ) async throws {
      try await browser.open(site)
      try await browser.click("#buy")
      try await browser.wait(until: "document.querySelector('#simulate button:not([disabled])')")
      #expect(try await browser.text("#party") == "Tea and Wine")
      try await browser.click("#simulate button[data-outcome=\(outcome)]")
      try await browser.wait(until: "document.querySelector('#outcome') || !document.getElementById('back').hidden")
      if try await browser.run("return document.querySelector('#outcome') === null") == true {
        try await browser.click("#back-link")
        try await browser.wait(until: "document.querySelector('#outcome')")
      }
      #expect(try await browser.text("#outcome") == said)
      guard let event else { return }
      for _ in 0..<50 where try await browser.text("#webhook") != event {
        try await Task.sleep(for: .milliseconds(200))
        try await browser.run("location.reload(); return 1")
        try await browser.wait(until: "document.querySelector('#webhook')")
      }
      #expect(try await browser.text("#webhook") == event)
    }
  }
}
