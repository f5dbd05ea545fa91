import Testing

@testable import App

@Suite struct ListenAddressTests {
  @Test(arguments: ["127.0.0.1:8080", "0.0.0.0:0", "[::1]:8080", "[::]:65535"])
  func `a numeric address with a port is one`(text: String) { #expect(ListenAddress(text)?.description == text) }

  @Test(arguments: [
    "", ":8080", "8080", "localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80",
    "[127.0.0.1]:80", "[::1]", "127.0.0.1:-1", "127.0.0.1:+1", "127.1:80",
  ])
  func `anything else is none`(text: String) { #expect(ListenAddress(text) == nil) }

  @Test func `loopback is 127/8 and ::1`() {
    for address in ["127.0.0.1", "127.9.9.9", "::1"] { #expect(ListenAddress.isLoopback(address)) }
    for address in ["0.0.0.0", "128.0.0.1", "::", "::2", "::ffff:127.0.0.1", "10.0.0.1", "", "localhost"] {
      #expect(!ListenAddress.isLoopback(address))
    }
  }

  @Test func `origins are those that a browser writes`() {
    for origin in ["https://shop.example", "https://shop.example:8443", "http://localhost:3000", "http://127.0.0.1"] {
      #expect(WebOrigin.isValid(origin))
    }
    for origin in [
      "*", "null", "", "https://", "https://shop.example/", "https://Shop.example", "http://shop.example",
      "https://a:0", "https://a:080", "https://a:1:2", "https://a@b", "ftp://a", "https://a..b", "https://*.a",
    ] {
      #expect(!WebOrigin.isValid(origin), "\(origin)")
    }
  }
}
