import Base
import FoundationEssentials
import Testing

@testable import App

/// `/docs`: the configured folder, and nothing outside it.
@Suite(.onOwnThreads) struct DocumentationRouteTests {
  private func withFolder(_ files: [String: String], _ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/mdoc-docs-\(UInt64.random(in: 0...(.max)))"
    try FileManager.default.createDirectory(atPath: folder + "/below", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: folder + "/" + name)) }
    try await body(folder)
  }

  @Test func `its files are served, and no others`() async throws {
    let files = [
      "index.html": "<h1>Articles</h1>", "page.css": "h1 {}", "search.js": "1", "secret.key": "x",
      "below/index.html": "y", "ReferenceAPI.html": "<h1>API</h1>",
    ]
    try await withFolder(files) { folder in
      try await withTestMode(documentation: try DocumentationSite(folder: folder)) { bed in
        let api = bed.api.with(nil)
        let start = try await api.get("/docs")
        #expect(start.status == 302 && start.header("Location") == "/docs/index.html")
        #expect(try await api.get("/docs/api").header("Location") == "/docs/ReferenceAPI.html")
        for (name, type) in [("index.html", "text/html"), ("page.css", "text/css"), ("search.js", "text/javascript")] {
          let reply = try await api.get("/docs/" + name)
          #expect(
            reply.status == 200 && reply.body == files[name] && reply.header("Content-Type")?.hasPrefix(type) == true)
          #expect(reply.header("Content-Security-Policy")?.contains("script-src 'self'") == true)
          #expect(reply.header("Content-Security-Policy")?.contains("frame-ancestors 'none'") == true)
        }
        for name in [
          "secret.key", "none.html", "below", "below/index.html", "..%2fetc%2fpasswd", "%2e%2e", "index.html%00",
        ] {
          #expect(try await api.get("/docs/" + name).status == 404, "\(name)")
        }
        #expect(try await api.get("/").json["links"]?["documentation"] == "/docs")
      }
    }
  }

  @Test func `without a folder there is nothing`() async throws {
    try await withTestMode { bed in
      let api = bed.api.with(nil)
      for path in ["/docs", "/docs/index.html"] {
        let reply = try await api.get(path)
        #expect(reply.status == 404)
      }
      let home = try await api.get("/").json
      #expect(home["links"]?["contract"] != nil && home["links"]?["documentation"] == nil)
    }
  }

  private func isRefused(_ folder: String) -> Bool {
    do throws(DocumentationSite.Fault) {
      _ = try DocumentationSite(folder: folder)
      return false
    } catch {
      return true
    }
  }

  @Test func `a folder that has no articles is a fault`() async throws {
    #expect(isRefused("/nowhere"))
    try await withFolder(["page.css": "x"]) { folder in
      #expect(isRefused(folder))
    }
    let large = String(repeating: "x", count: DocumentationSite.mostBytes + 1)
    try await withFolder(["index.html": "x", "large.js": large]) { folder in
      #expect(isRefused(folder))
    }
  }
}
