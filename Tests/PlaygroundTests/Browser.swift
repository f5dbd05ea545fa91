import Base
import FoundationEssentials
import Glibc
import Longfellow
import TestMode
import Testing

@testable import App

/// A headless Chromium, driven through chromedriver's HTTP interface (W3C WebDriver).
struct Browser: Sendable {
  let driver: DriverProcess
  private let session: String

  /// A new browser with nothing stored, 1280 × 900.
  ///
  /// - Parameter blocksStorage: whether another site's frame has no storage.
  init(of driver: DriverProcess, blocksStorage: Bool = false) async throws {
    self.driver = driver
    let blocking: [JSON] = blocksStorage ? ["--disable-features=ThirdPartyStoragePartitioning"] : []
    let arguments: JSON = .array(
      [
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1280,900",
      ] + blocking)
    let preferences: JSON = blocksStorage ? ["profile.block_third_party_cookies": true] : [:]
    let reply = try await Self.call(
      driver.port, "POST", "/session",
      [
        "capabilities": [
          "alwaysMatch": [
            "browserName": "chrome", "goog:loggingPrefs": ["browser": "ALL"],
            "goog:chromeOptions": [
              "binary": "/usr/bin/chromium", "args": arguments, "prefs": preferences,
            ],
          ]
        ]
      ])
    guard let id = reply["sessionId"]?.string else { throw BrowserFault("no session") }
    session = id
  }

  func end() async { _ = try? await Self.call(driver.port, "DELETE", "/session/\(session)", nil) }

  // MARK: Pages

  func open(_ address: String) async throws { _ = try await post("url", ["url": .string(address)]) }

  /// The value of a function's body; a promise is awaited.
  @discardableResult
  func run(_ script: String, _ arguments: JSON...) async throws -> JSON {
    try await post("execute/sync", ["script": .string(script), "args": .array(arguments)])
  }

  func text(_ selector: String) async throws -> String {
    try await run("return document.querySelector(arguments[0])?.textContent ?? ''", .string(selector)).string ?? ""
  }

  func count(_ selector: String) async throws -> Int64 {
    try await run("return document.querySelectorAll(arguments[0]).length", .string(selector)).integer ?? -1
  }

  /// Returns once the expression is true; gives up after half a minute.
  func wait(until expression: String) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while try await run("return Boolean(\(expression))") != true {
      guard ContinuousClock.now < end else { throw BrowserFault("never true: \(expression)") }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  func click(_ selector: String) async throws {
    _ = try await run("document.querySelector(arguments[0]).click()", .string(selector))
  }

  /// Clicks like a person, as the Digital Credentials API requires.
  func tap(_ selector: String) async throws {
    let element = try await element(selector)
    _ = try await post("element/\(element)/click", [:])
  }

  /// Runs the body inside a frame, and then leaves the frame.
  func inside(_ selector: String, _ body: () async throws -> Void) async throws {
    let frame = try await element(selector)
    _ = try await post("frame", ["id": [Self.elementKey: .string(frame)]])
    try await body()
    _ = try await post("frame", ["id": .null])
  }

  /// Goes on in the tab that the page has opened, which is closed after the body.
  func inNewTab(_ body: () async throws -> Void) async throws {
    let tabs = try await Self.call(driver.port, "GET", "/session/\(session)/window/handles", nil).array ?? []
    guard tabs.count == 2 else { throw BrowserFault("\(tabs.count) tabs instead of two") }
    _ = try await post("window", ["handle": tabs[1]])
    try await body()
    _ = try await Self.call(driver.port, "DELETE", "/session/\(session)/window", nil)
    _ = try await post("window", ["handle": tabs[0]])
  }

  private func element(_ selector: String) async throws -> String {
    let found = try await post("element", ["using": "css selector", "value": .string(selector)])
    guard let id = found[Self.elementKey]?.string else { throw BrowserFault("no \(selector)") }
    return id
  }

  private static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

  // MARK: Wallets

  /// The browser's own wallet's reaction to the next request.
  enum WalletBehavior {
    /// Gives `{protocol, data}`.
    case respond(JSON)
    case decline
    /// Gives no answer.
    case wait
  }

  /// Sets the wallet behind the browser's Digital Credentials API.
  func wallet(_ behavior: WalletBehavior) async throws {
    let parameters: JSON =
      switch behavior {
      case .respond(let answer):
        .members(["action": "respond", "protocol": answer["protocol"], "response": answer["data"]])
      case .decline: ["action": "decline"]
      case .wait: ["action": "wait"]
      }
    try await command("DigitalCredentials.setVirtualWalletBehavior", parameters)
  }

  /// Presses keys one after the other, on the focused element.
  func press(_ keys: String...) async throws { try await press(keys) }

  func press(_ keys: [String]) async throws {
    let actions = keys.flatMap { key -> [JSON] in
      [["type": "keyDown", "value": .string(key)], ["type": "keyUp", "value": .string(key)]]
    }
    let source: JSON = ["type": "key", "id": "keyboard", "actions": .array(actions)]
    _ = try await post("actions", ["actions": [source]])
  }

  /// New entries of the console: errors, warnings, violations of the content security policy.
  func console() async throws -> [String] {
    try await post("se/log", ["type": "browser"]).array?.compactMap { $0["message"]?.string } ?? []
  }

  /// Emulates a preference for dark colours, or another screen width.
  func emulate(dark: Bool, width: Int64 = 1280, phone: Bool = false) async throws {
    let scheme: JSON = ["name": "prefers-color-scheme", "value": .string(dark ? "dark" : "light")]
    try await command("Emulation.setEmulatedMedia", ["features": [scheme]])
    try await command(
      "Emulation.setDeviceMetricsOverride",
      ["width": .integer(width), "height": 900, "deviceScaleFactor": 1, "mobile": .bool(phone)])
    try await command("Emulation.setTouchEmulationEnabled", ["enabled": .bool(phone)])
  }

  /// The whole page as a PNG. It is kept too if `MDOC_SCREENSHOTS` names a folder.
  @discardableResult
  func screenshot(_ name: String) async throws -> [UInt8] {
    let reply = try await command("Page.captureScreenshot", ["captureBeyondViewport": true])
    guard let image = reply["data"]?.string.flatMap(Base64.decode) else { throw BrowserFault("no screenshot") }
    if let folder = getenv("MDOC_SCREENSHOTS") {
      try Data(image).write(to: URL(filePath: String(cString: folder) + "/\(name).png"))
    }
    return image
  }

  /// The findings of axe in the page (`MDOC_AXE` names its script); none without axe.
  func accessibilityFindings() async throws -> JSON {
    guard let path = getenv("MDOC_AXE") else { return [] }
    return try await run(
      try String(contentsOfFile: String(cString: path), encoding: .utf8) + """
        ;
        return axe.run(document).then(({ violations }) =>
          violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`));
        """)
  }

  /// A command of the Chrome DevTools protocol.
  @discardableResult
  private func command(_ name: String, _ parameters: JSON) async throws -> JSON {
    try await post("goog/cdp/execute", ["cmd": .string(name), "params": parameters])
  }

  // MARK: WebDriver

  private func post(_ path: String, _ body: JSON) async throws -> JSON {
    try await Self.call(driver.port, "POST", "/session/\(session)/\(path)", body)
  }

  /// One call on its own connection and thread, since the rest of the process is busy.
  private static func call(_ port: UInt16, _ method: String, _ path: String, _ body: JSON?) async throws -> JSON {
    let result = Locked<Result<JSON, BrowserFault>>(.failure(BrowserFault("no thread for the call")))
    await BackgroundThread.run {
      let reply = WebDriverCall(port: port, method: method, path: path, body: body).run()
      result.withLock { $0 = reply }
    }
    return try result.withLock { $0 }.get()
  }
}

/// The page, open in a browser, before a server in test mode.
struct Page: Sendable {
  let browser: Browser
  let mode: TestServer

  /// Requests by the protocols of this family, and waits for the request.
  func ask(by family: String = "apple-in-app") async throws {
    try await browser.click("input[name=family][value='\(family)']")
    try await browser.click("#make")
    try await settle()
    #expect(try await browser.run("return document.getElementById('problem').hidden") == true)
  }

  /// Responds with a named variant of the mock wallet, and waits for the verdict.
  func answer(_ variant: String) async throws {
    try await browser.run(
      """
      const list = document.getElementById("variant");
      list.value = arguments[0];
      list.dispatchEvent(new Event("change"));
      """, .string(variant))
    try await browser.click("#answer-mock")
    try await settle()
  }

  /// Waits for the end of the step.
  func settle() async throws { try await browser.wait(until: "!document.body.hasAttribute('aria-busy')") }
}

extension Page {
  /// Calls the API with test mode's key, from the page.
  func post(_ path: String, _ body: JSON) async throws -> JSON {
    try await browser.run(
      """
      const [path, key, body] = arguments;
      return fetch(path, {
        method: "POST", headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }).then((reply) => reply.json());
      """, .string(path), .string(mode.apiKey), body)
  }

  func get(_ path: String) async throws -> JSON {
    try await browser.run(
      """
      const [path, key] = arguments;
      return fetch(path, { headers: { Authorization: `Bearer ${key}` } }).then((reply) => reply.json());
      """, .string(path), .string(mode.apiKey))
  }

  /// The mock wallet's response to a session.
  func mockAnswer(_ session: JSON, by name: String, variant: String = "good") async throws -> JSON {
    let answer = try await post(
      "/v1/test/mock_responses",
      .members(["session": session["id"], "protocol": .string(name), "variant": .string(variant)]))
    #expect(answer["data"] != nil, "\(answer)")
    return answer
  }

  /// The address of the request in the link, or QR code, that the page shows.
  func requestURI() async throws -> String {
    try await browser.wait(until: "document.getElementById('link').href !== ''")
    let address = try await browser.run(
      "return new URLSearchParams(document.getElementById('link').href.split('?')[1]).get('request_uri')")
    return try #require(address.string)
  }

  /// Responds like a wallet on another device, which knows only the address of its request.
  func answerAsWallet(_ requestURI: String, in session: JSON) async throws {
    let answer = try await post(
      "/v1/test/mock_responses",
      .members(["session": session["id"], "protocol": "openid4vp", "request_uri": .string(requestURI)]))
    let status = try await browser.run(
      """
      const [address, data] = arguments;
      return fetch(address, { method: "POST", body: new URLSearchParams(data) }).then(({ status }) => status);
      """, .string(requestURI.replacing("/request", with: "/response")), answer["data"] ?? .null)
    #expect(status == 200)
  }
}

/// Opens the page in a new browser, and ends browser and server after the body.
func withPage(
  circuits: CircuitLibrary? = nil, documentation: DocumentationSite? = nil,
  clock: @escaping @Sendable () -> Timestamp = Timestamp.systemNow,
  blocksStorage: Bool = false, _ body: (Page) async throws -> Void
) async throws {
  guard DriverProcess.isHere else { throw BrowserFault("\(DriverProcess.program) and Chromium are not here") }
  var options = TestModeOptions()
  options.circuits = circuits
  options.documentation = documentation
  options.clock = clock
  let mode = try TestServer.start(options)
  do {
    let browser = try await Browser(of: DriverProcess(), blocksStorage: blocksStorage)
    do {
      try await browser.open(mode.playgroundURL)
      try await browser.wait(until: "document.body.dataset.ready")
      try await body(Page(browser: browser, mode: mode))
    } catch {
      await browser.end()
      throw error
    }
    await browser.end()
  } catch {
    await mode.server.stop(drainSeconds: 0)
    throw error
  }
  await mode.server.stop(drainSeconds: 0)
}

extension Trait where Self == ConditionTrait {
  /// Runs only if there is a browser, unless a browser is required.
  static var inABrowser: Self {
    .enabled(
      if: DriverProcess.isHere && !DriverProcess.isLeftOut || DriverProcess.isRequired,
      "no chromedriver: apt-get install chromium chromium-driver")
  }
}

/// The reason why a browser could not be controlled.
struct BrowserFault: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
