import Base
import TestMode
import Testing

@testable import App

/// The page, open in a browser, before a server in test mode.
struct Page: Sendable {
  let browser: Browser
  let mode: TestServer

  /// Asks by the protocols of this family, and waits for the request.
  func ask(by family: String = "apple-in-app") async throws {
    try await browser.click("input[name=family][value='\(family)']")
    try await browser.click("#make")
    try await settle()
    #expect(try await browser.run("return document.getElementById('problem').hidden") == true)
  }

  /// Answers with the mock wallet in a named way, and waits for the verdict.
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

/// Opens the page in a browser of its own, and ends browser and server after the body.
func withPage(_ body: (Page) async throws -> Void) async throws {
  guard DriverProcess.isHere else { throw BrowserFault("\(DriverProcess.program) and Chromium are not here") }
  let mode = try TestServer.start()
  do {
    let browser = try await Browser(of: DriverProcess())
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
  /// Only where there is a browser, unless there has to be one.
  static var inABrowser: Self {
    .enabled(
      if: DriverProcess.isHere || DriverProcess.isRequired,
      "no chromedriver: apt-get install chromium chromium-driver")
  }
}
