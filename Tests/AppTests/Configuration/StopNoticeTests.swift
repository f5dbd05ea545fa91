import Base
import TestSupport
import Testing

@testable import App

/// A stop is announced before it begins.
@Suite(.onOwnThreads) struct StopNoticeTests {
  @Test func `a server that is about to stop says so, and answers until it does`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeConfiguration(["stop_notice": 300, "stop_drain": 3])
      let log = LogCapture()
      let server = try folder.start(log)
      let api = APIClient(port: server.listen.port, isLive: true, token: LiveFolder.apiKey)
      #expect(try await api.get("/readyz").status == 200)
      let stop = Task { await server.stopWithNotice() }
      while !log.all.contains(where: { $0.contains("server.stop_announced") }) { await Task.yield() }
      let ready = try await api.with(nil).get("/readyz")
      #expect(ready.status == 503 && ready.code == "api.overloaded" && ready.body.contains("The server is stopping."))
      let metrics = try await api.with(nil).get("/metrics").body
      #expect(metrics.contains("mdoc_http_shed_total{reason=\"full\"} 0\n"), "nothing was refused for load")
      #expect(try await api.post("/v1/verification_sessions", TestBed.body(.standard)).status == 201)
      #expect(try await api.get("/healthz").status == 200)
      // As if the time were over.
      stop.cancel()
      await stop.value
      #expect(throws: (any Error).self) { try RawClient(port: server.listen.port, timeout: 1) }
    }
  }
}
