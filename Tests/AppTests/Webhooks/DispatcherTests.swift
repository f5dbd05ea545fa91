import Base
import Cryptography
import HTTP
import Sessions
import Stores
import TestSupport
import Testing

@testable import App

/// From the outbox to the receivers: at least once, never lost, and no delivery waits for another's receiver.
@Suite(.onOwnThreads, .timeLimit(.minutes(4))) struct DispatcherTests {
  @Test func `a receiver gets each event once, signed, with nothing personal`() async throws {
    let receiver = Receiver.always(204)
    try await withReceivers(receiver) { urls in
      let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0])])
      try await bed.dispatching {
        let id = try await bed.cancelSession()
        try await eventually("delivered") { try await bed.deliveries(.delivered).map(\.event.id) == [id] }
        let request = try #require(receiver.seen.first)
        #expect(receiver.seen.count == 1 && request.method == "POST" && request.path == "/hooks")
        #expect(request.headers.single("webhook-id") == id.text)
        let time = try #require(request.headers.single("webhook-timestamp"))
        #expect(time == "\(bed.clock.now.secondsSince1970)")
        let content = Array("\(id.text).\(time).".utf8) + request.body
        let mac = HMAC.authenticate(
          content, key: SecretBytes(copying: [UInt8](repeating: 9, count: 32)), hash: .sha256)
        #expect(request.headers.single("webhook-signature") == "v1," + Base64.encode(mac))
        #expect(try JSON(parsing: request.body)["data"]?["id"]?.string == id.session.text)
      }
      #expect(bed.metrics.snapshot.delivered == 1)
    }
  }

  @Test func `while secrets rotate a message is signed with both`() async throws {
    let receiver = Receiver.always(200)
    let new = "whsec_" + Base64.encode([UInt8](repeating: 1, count: 24))
    try await withReceivers(receiver) { urls in
      for secrets in [[WebhookBed.secret], [new, WebhookBed.secret], [new]] {
        let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0], secrets: secrets)])
        try await bed.dispatching {
          let before = receiver.seen.count
          try await bed.cancelSession()
          try await eventually("delivered") { receiver.seen.count > before }
        }
        let signatures = receiver.seen.last?.headers.single("webhook-signature")?.split(separator: " ")
        #expect(signatures?.count == secrets.count && signatures?.allSatisfy { $0.hasPrefix("v1,") } == true)
      }
    }
  }

  @Test func `a receiver that hangs holds up no other's`() async throws {
    let (silent, good) = (Receiver.silent(), Receiver.always(200))
    try await withReceivers(silent, good) { urls in
      let bed = WebhookBed([
        try WebhookBed.endpoint("a-silent", at: urls[0]), try WebhookBed.endpoint("good", at: urls[1]),
      ])
      try await bed.dispatching {
        var ids: Set<String> = []
        for _ in 0..<60 { ids.insert(try await bed.cancelSession().text) }
        try await eventually("the good one has all") { Set(good.ids) == ids }
        #expect(good.seen.count == 60)
        #expect(silent.seen.count <= Limits.endpointDeliveries)
      }
      // A hanging delivery is not lost: it is retried.
      let pending = try await bed.deliveries(.pending)
      #expect(pending.count == 60 && pending.allSatisfy { $0.endpoint == "a-silent" })
    }
  }

  @Test func `a message that is refused comes again later, with the same id`() async throws {
    let receiver = Receiver { number in HTTPResponse(status: number == 1 ? 500 : 200) }
    try await withReceivers(receiver) { urls in
      let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0])])
      try await bed.dispatching {
        let id = try await bed.cancelSession()
        try await eventually("refused") {
          try await bed.deliveries(.pending).map(\.fault) == [DeliveryFault(.refused, httpStatus: 500)]
        }
        let due = try await bed.deliveries(.pending)[0].due
        #expect((bed.clock.now + 4...bed.clock.now + 6).contains(due))
        #expect(receiver.seen.count == 1)
        bed.clock.advance(6)
        try await eventually("delivered") { try await bed.deliveries(.delivered).count == 1 }
        #expect(receiver.ids == [id.text, id.text])
        let times = receiver.seen.compactMap { $0.headers.single("webhook-timestamp") }
        #expect(Set(times).count == 2)
        #expect(bed.metrics.snapshot.retried == 1 && bed.metrics.snapshot.delivered == 1)
      }
      #expect(bed.log.text.contains("webhook.failing") && bed.log.text.contains("webhook.recovered"))
      #expect(!bed.log.text.contains("whsec_") && !bed.log.text.contains("127.0.0.1"))
    }
  }

  @Test func `a redirect is not followed`() async throws {
    let other = Receiver.always(200)
    try await withReceivers(other) { others in
      let receiver = Receiver.always(307, [("Location", others[0])])
      try await withReceivers(receiver) { urls in
        let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0])])
        try await bed.dispatching {
          try await bed.cancelSession()
          try await eventually("refused") {
            try await bed.deliveries(.pending).map(\.fault) == [DeliveryFault(.redirected, httpStatus: 307)]
          }
        }
        #expect(other.seen.isEmpty)
      }
    }
  }

  @Test func `410 is a dead letter at once, until somebody asks for it`() async throws {
    let receiver = Receiver { number in HTTPResponse(status: number == 1 ? 410 : 200) }
    try await withReceivers(receiver) { urls in
      let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0])])
      try await bed.dispatching {
        let event = try await bed.cancelSession()
        try await eventually("dead") {
          try await bed.deliveries(.dead).map(\.fault) == [DeliveryFault(.gone, httpStatus: 410)]
        }
        bed.clock.advance(Limits.deliverySpan)
        try await Task.sleep(for: .milliseconds(100))
        #expect(receiver.seen.count == 1)
        try await eventually("measured") { bed.metrics.snapshot.outbox?.dead == 1 }
        _ = try await bed.store.retryDelivery(DeliveryID(event, to: "main"), of: "shop", at: bed.clock.now)
        try await eventually("delivered") { try await bed.deliveries(.delivered).count == 1 }
        #expect(bed.metrics.snapshot.dead == 1)
      }
      #expect(bed.log.text.contains("webhook.dead_letter"))
    }
  }

  @Test func `after three days a message is a dead letter`() async throws {
    let receiver = Receiver.always(503)
    try await withReceivers(receiver) { urls in
      let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0])])
      let begin = bed.clock.now
      try await bed.dispatching {
        try await bed.cancelSession()
        while try await bed.deliveries(.dead).isEmpty {
          let seen = receiver.seen.count
          try await eventually("tried") {
            let isDead = try await !bed.deliveries(.dead).isEmpty
            let due = try await bed.deliveries(.pending).first?.due
            return isDead
              || (receiver.seen.count > seen && due.map { $0 > bed.clock.now + Limits.deliveryLease } == true)
              || due.map { $0 < bed.clock.now + Limits.deliveryLease && $0 > bed.clock.now } == true
          }
          if let due = try await bed.deliveries(.pending).first?.due, due > bed.clock.now {
            bed.clock.advance(due.secondsSince1970 - bed.clock.now.secondsSince1970)
          }
          try #require(receiver.seen.count < 40)
        }
      }
      let hours = (bed.clock.now.secondsSince1970 - begin.secondsSince1970) / 3_600
      #expect((60...72).contains(hours))
      #expect((12...25).contains(receiver.seen.count))
    }
  }

  @Test(arguments: [("3600", 3_600), ("864000", Limits.longestDeliveryPause), ("0", 4)])
  func `a receiver is heard that says when to come again, within bounds`(_ value: String, _ least: Int64) async throws {
    let receiver = Receiver.always(429, [("Retry-After", value)])
    try await withReceivers(receiver) { urls in
      let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0])])
      try await bed.dispatching {
        try await bed.cancelSession()
        try await eventually("refused") { try await bed.deliveries(.pending).first?.fault != nil }
        let due = try await bed.deliveries(.pending)[0].due
        #expect((bed.clock.now + least...bed.clock.now + max(least, 6)).contains(due))
      }
    }
  }

  @Test func `an address inside is not asked in live mode, named or not`() async throws {
    let receiver = Receiver.always(200)
    try await withReceivers(receiver) { urls in
      let bed = WebhookBed([
        try WebhookBed.endpoint("plain", at: urls[0]), try WebhookBed.endpoint("named", at: "https://hooks.example/"),
      ])
      try await bed.dispatching(in: .live, pinnedNames: ["hooks.example:443:10.1.2.3"]) {
        try await bed.cancelSession()
        try await eventually("refused") {
          try await bed.deliveries(.pending).map(\.fault) == Array(repeating: DeliveryFault(.notAllowed), count: 2)
        }
      }
      #expect(receiver.seen.isEmpty)
    }
  }
}
