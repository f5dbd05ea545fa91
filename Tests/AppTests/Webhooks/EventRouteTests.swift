import Base
import HTTP
import Sessions
import TestSupport
import Testing

@testable import App

/// `/v1/events` and `/v1/webhook_deliveries`; the client holds every reply against the OpenAPI document.
@Suite(.onOwnThreads, .timeLimit(.minutes(4))) struct EventRouteTests {
  @Test func `every end of a session is an event, and reaches the webhook as it is listed`() async throws {
    let receiver = Receiver.always(200)
    try await withReceivers(receiver) { urls in
      try await withTestMode(webhook: urls[0]) { bed in
        let verified = try await bed.createSession()
        _ = try await bed.submit(bed.mockAnswer(verified), to: verified)
        let failed = try await bed.createSession()
        _ = try await bed.submit(bed.mockAnswer(failed, variant: "status-revoked"), to: failed)
        let canceled = try await bed.createSession()
        for path in ["/cancel", "/redact"] { _ = try await bed.api.post(TestBed.path(canceled) + path) }
        let list = try await bed.api.get("/v1/events")
        #expect(list.status == 200 && list.json["has_more"] == false)
        let events = list.json["data"]?.array ?? []
        #expect(
          events.map { $0["type"]?.string } == [
            "verification_session.redacted", "verification_session.canceled", "verification_session.failed",
            "verification_session.verified",
          ])
        #expect(events.allSatisfy { $0["livemode"] == false && $0["object"] == "event" })
        #expect(events[2]["data"]?["id"] == failed["id"])
        #expect(events[2]["data"]?["last_error"]?["code"]?.string?.isEmpty == false)
        #expect(events[3]["data"]?["last_error"] == .null)
        #expect(try await bed.api.get("/v1/events/\(events[3]["id"]?.string ?? "")").json == events[3])
        try await eventually("delivered") { receiver.seen.count == 4 }
        let bodies = try receiver.seen.map { try JSON(parsing: $0.body) }
        #expect(bodies.allSatisfy(events.contains))
        #expect(bed.mode.json["webhook"]?["url"]?.string == urls[0])
        #expect(bed.mode.json["webhook"]?["secret"]?.string?.hasPrefix("whsec_") == true)
        try await eventually("measured") {
          let metrics = try await bed.api.get("/metrics").body
          return metrics.contains("mdoc_webhook_attempts_total{outcome=\"delivered\"} 4\n")
            && metrics.contains("mdoc_webhook_deliveries{status=\"pending\"} 0\n")
            && metrics.contains("mdoc_webhook_oldest_pending_seconds 0\n")
        }
        #expect(!bed.log.text.contains("whsec_") && !bed.log.text.contains(urls[0]))
      }
    }
  }

  @Test func `events are listed in pages and by type`() async throws {
    try await withTestMode { bed in
      for _ in 0..<3 {
        let session = try await bed.createSession()
        _ = try await bed.api.post(TestBed.path(session) + "/cancel")
      }
      let first = try await bed.api.get("/v1/events?limit=2")
      #expect(first.json["data"]?.array?.count == 2 && first.json["has_more"] == true)
      let last = first.json["data"]?.array?.last?["id"]?.string ?? ""
      let second = try await bed.api.get("/v1/events?limit=2&starting_after=\(last)")
      #expect(second.json["data"]?.array?.count == 1 && second.json["has_more"] == false)
      let none = try await bed.api.get("/v1/events?type=verification_session.verified")
      #expect(none.json["data"] == [])
      for query in ["limit=0", "type=x", "starting_after=evt_x", "limit=1&limit=2"] {
        #expect(try await bed.api.get("/v1/events?\(query)").code == "api.invalid_request")
      }
      #expect(try await bed.api.get("/v1/events?x=1").code == "api.unknown_member")
      #expect(try await bed.api.with(nil).get("/v1/events").status == 401)
    }
  }

  @Test func `an id that is not there is not found`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let suffix = session["id"]?.string?.dropFirst(3) ?? ""
      for path in ["/v1/events/evt_\(suffix)_verified", "/v1/events/x"] {
        #expect(try await bed.api.get(path).code == "api.not_found")
      }
      for id in ["whd_\(suffix)_verified_test", "x"] {
        #expect(try await bed.api.post("/v1/webhook_deliveries/\(id)/retry").code == "api.not_found")
      }
    }
  }

  @Test func `a dead letter is listed and can be asked for again`() async throws {
    let receiver = Receiver { number in HTTPResponse(status: number == 1 ? 410 : 200) }
    try await withReceivers(receiver) { urls in
      try await withTestMode(webhook: urls[0]) { bed in
        let session = try await bed.createSession()
        _ = try await bed.api.post(TestBed.path(session) + "/cancel")
        try await eventually("dead") {
          try await bed.api.get("/v1/webhook_deliveries").json["data"]?.array?.count == 1
        }
        let dead = try await bed.api.get("/v1/webhook_deliveries?status=dead").json["data"]?.array?.first
        #expect(dead?["last_failure"] == ["reason": "gone", "http_status": 410])
        #expect(dead?["next_attempt_at"] == .null && dead?["attempts"] == 1 && dead?["endpoint"] == "test")
        let id = dead?["id"]?.string ?? ""
        let retried = try await bed.api.post(
          "/v1/webhook_deliveries/\(id)/retry", nil, ["Idempotency-Key": "again"])
        #expect(retried.status == 200 && retried.json["status"] == "pending")
        try await eventually("delivered") {
          let page = try await bed.api.get("/v1/webhook_deliveries?status=delivered&limit=1")
          return page.json["data"]?.array?.first?["id"]?.string == id
        }
        #expect(try await bed.api.get("/v1/webhook_deliveries").json["data"] == [])
        // It is delivered, and remains delivered.
        let again = try await bed.api.post("/v1/webhook_deliveries/\(id)/retry")
        #expect(again.status == 200 && again.json["status"] == "delivered")
        for query in ["status=x", "limit=101", "starting_after=x"] {
          #expect(try await bed.api.get("/v1/webhook_deliveries?\(query)").code == "api.invalid_request")
        }
      }
    }
  }
}
