import Base
import Testing

extension PlaygroundTests {
  /// The page for those who use no mouse, prefer dark colours, or have a narrow screen.
  @Suite struct AccessibilityTests {
    private static let tab = "\u{e004}"
    private static let enter = "\u{e007}"

    /// Presses Tab until the element has the focus.
    private func tab(to id: String, in page: Page) async throws {
      for _ in 0..<120 {
        try await page.browser.press(Self.tab)
        if try await page.browser.run("return document.activeElement.id") == .string(id) { return }
      }
      throw BrowserFault("no Tab leads to \(id)")
    }

    @Test func `a whole verification needs nothing but the keyboard`() async throws {
      try await withPage { page in
        try await tab(to: "make", in: page)
        let outline = try await page.browser.run("return getComputedStyle(document.activeElement).outlineStyle")
        #expect(outline == "solid", "the focus is to be seen")
        try await page.browser.press(Self.enter)
        try await page.browser.wait(until: "!document.getElementById('answer').hidden")
        try await page.settle()
        // The screen reader continues at the new content.
        #expect(try await page.browser.run("return document.activeElement.id") == "request-title")
        try await tab(to: "variant-filter", in: page)
        try await page.browser.press(Array("device-signature-zero").map(String.init))
        try await tab(to: "answer-mock", in: page)
        try await page.browser.press(Self.enter)
        try await page.browser.wait(until: "document.getElementById('banner') !== null")
        #expect(try await page.browser.run("return document.activeElement.id") == "verdict-title")
        #expect(try await page.browser.text("#banner") == "Rejected mdoc.device_auth.signature_invalid")
      }
    }

    @Test func `every field has a label, and what changes by itself is announced`() async throws {
      try await withPage { page in
        try await page.ask(by: "web")
        let unlabelled = try await page.browser.run(
          "return [...document.querySelectorAll('input, select')].filter((field) => field.labels.length === 0).length")
        #expect(unlabelled == 0)
        #expect(try await page.browser.count("#outcome[aria-live=polite], #problem[role=alert]") == 2)
        let repeated = try await page.browser.run(
          "const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id); return ids.length - new Set(ids).size"
        )
        #expect(repeated == 0)
      }
    }

    @Test func `dark mode has colours of its own, and both can be read`() async throws {
      try await withPage { page in
        var backgrounds: Set<JSON> = []
        for isDark in [false, true] {
          try await page.browser.emulate(dark: isDark)
          let colors = try await page.browser.run(
            "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]")
          backgrounds.insert(colors.array?.first ?? .null)
          let luminances = (colors.array ?? []).compactMap { $0.string.map(Self.luminance) }
          try #require(luminances.count == 2)
          #expect((luminances[0] < 0.5) == isDark)
          // WCAG 2.2, 1.4.3, and more than that.
          #expect(((luminances.max() ?? 0) + 0.05) / ((luminances.min() ?? 1) + 0.05) > 7)
        }
        #expect(backgrounds.count == 2)
      }
    }

    @Test func `nothing is wider than a screen of 400 pixels`() async throws {
      try await withPage { page in
        try await page.browser.emulate(dark: false, width: 400)
        try await page.ask()
        try await page.answer("good")
        let widths = try await page.browser.run("return [innerWidth, document.documentElement.scrollWidth]")
        #expect(widths.array?.first == 400)
        #expect(widths.array?.last?.integer ?? .max <= 400)
      }
    }

    /// Relative luminance of `rgb(r, g, b)` (WCAG 2.2).
    private static func luminance(_ color: String) -> Double {
      let parts = color.split { !$0.isNumber }.prefix(3).compactMap { Double($0) }.map { $0 / 255 }
      let linear = parts.map { $0 <= 0.04 ? $0 / 12.92 : power(($0 + 0.055) / 1.055) }
      return zip([0.2126, 0.7152, 0.0722], linear).reduce(0) { $0 + $1.0 * $1.1 }
    }

    /// The exponent is 2.4; 2.5 is accurate enough here.
    private static func power(_ value: Double) -> Double { value * value * value.squareRoot() }
  }
}
