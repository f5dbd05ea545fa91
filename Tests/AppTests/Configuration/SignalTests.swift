import Base
import Cryptography
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import App

/// What operators do to a running server: SIGHUP, SIGTERM.
@Suite(.onOwnThreads, .enabled(if: LiveProcess.program != nil, "the program was not built")) struct SignalTests {
  @Test func `SIGHUP reads the configuration anew, and SIGTERM announces the stop and ends with status 0`() async throws
  {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let key = Hex.encode(try Random.bytes(32))
      let changes: [String: JSON] = [
        "stop_notice": 0, "sealing_keys": [["id": "a", "file": ["env": "MDOC_TEST_PROCESS_KEY"]]],
      ]
      try folder.writeConfiguration(changes)
      let process = try LiveProcess(folder, environment: ["MDOC_TEST_PROCESS_KEY=\(key)"])
      let listen = try await process.event("server.started")["listen"]?.string.flatMap { ListenAddress($0) }
      let api = APIClient(port: try #require(listen).port, isLive: true, token: LiveFolder.apiKey)
      #expect(try await api.get("/v1/trust_anchors").status == 403)
      let environment = FileManager.default.contents(atPath: "/proc/\(process.id)/environ").map { [UInt8]($0) } ?? []
      #expect(!environment.isEmpty && !String(decoding: environment, as: UTF8.self).contains(key.prefix(8)))

      let scopes = LiveFolder.party.with(["trust:read"], at: "/api_keys/0/scopes")
      try folder.writeConfiguration(changes.merging(["relying_parties": [scopes]]) { $1 })
      process.send(SIGHUP)
      _ = try await process.event("configuration.reloaded")
      #expect(try await api.get("/v1/trust_anchors").status == 200)

      try folder.write("mdoc.json", Array("{".utf8))
      process.send(SIGHUP)
      _ = try await process.event("configuration.reload_failed")
      #expect(try await api.get("/v1/trust_anchors").status == 200)

      process.send(SIGTERM)
      _ = try await process.event("server.stop_announced")
      #expect(process.end(with: 0) == 0)
    }
  }
}
