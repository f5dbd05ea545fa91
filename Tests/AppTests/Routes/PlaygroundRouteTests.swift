import Base
import Sessions
import TestSupport
import Testing

@testable import App
@testable import TestMode

/// The page of test mode as it is served; what it does is tested in a browser.
@Suite(.onOwnThreads) struct PlaygroundRouteTests {
  @Test func `the page and its files are served with a strict policy`() async throws {
    try await withTestMode { bed in
      let api = bed.api.with(nil)
      for asset in PlaygroundAsset.all {
        let reply = try await api.get(asset.path)
        #expect(reply.status == 200)
        #expect(Array(reply.body.utf8) == asset.body)
        let policy = try #require(reply.header("Content-Security-Policy"))
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
        #expect(policy.hasSuffix("base-uri 'none'; form-action 'none'; frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe"))
        #expect(reply.header("Referrer-Policy") == "no-referrer")
      }
      let page = try #require(PlaygroundAsset.all.first).body
      let text = String(decoding: page, as: UTF8.self)
      #expect(!text.contains("http://") && !text.contains("https://"))
      for asset in PlaygroundAsset.all {
        #expect(!String(decoding: asset.body, as: UTF8.self).contains("innerHTML"))
      }
    }
  }

  @Test func `its configuration has the key, what is offered, and every document type and code`() async throws {
    try await withTestMode { bed in
      let json = try await bed.api.with(nil).get("/playground/config.json").json
      #expect(json["api_key"]?.string == bed.mode.apiKey)
      let protocols = (json["families"]?.array ?? []).flatMap { $0["protocols"]?.array ?? [] }
      #expect(protocols.contains("apple-in-app") && protocols.contains("org-iso-mdoc"))
      let docTypes = (json["documents"]?.array ?? []).compactMap { $0["doc_type"]?.string }
      #expect(docTypes.contains("org.iso.23220.photoid.1") && docTypes.contains("org.iso.23220.photoID.1"))
      #expect(json["codes"]?.array?.count == Code.allCases.count)
    }
  }

  @Test(arguments: ["127.0.0.1", "127.0.0.1:8080", "localhost", "localhost:1", "[::1]", "[::1]:65535", "127.0.0.2"])
  func `this machine is served by each of its names`(host: String) {
    #expect(ListenAddress.isThisMachine(host))
  }

  @Test(arguments: [
    "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "evil.example:80", "[::2]", "",
    "localhost:", "localhost:80a", "localhost:123456", "LOCALHOST\u{212a}", "127.0.0.1 ", "user@localhost",
  ])
  func `no other name is`(host: String) async throws {
    #expect(!ListenAddress.isThisMachine(host))
  }

  @Test func `a page whose name is resolved to this machine learns nothing`() async throws {
    try await withTestMode { bed in
      for path in ["/playground", "/playground/playground.js", "/playground/config.json"] {
        let reply = try await bed.api.with(nil).call("GET", path, nil, ["Host": "rebound.example:8080"])
        #expect(reply.status == 404)
        #expect(reply.code == "api.not_found")
        #expect(!reply.body.contains(bed.mode.apiKey))
      }
    }
  }

  @Test func `a live server has none`() async throws {
    try await withFolder { path in
      try await LiveFolder(path).serve { _, api, _ in
        for path in ["/playground", "/playground/style.css", "/playground/config.json"] {
          let reply = try await api.with(nil).get(path)
          #expect(reply.status == 404)
          #expect(reply.code == "api.not_found")
        }
      }
    }
  }
}
