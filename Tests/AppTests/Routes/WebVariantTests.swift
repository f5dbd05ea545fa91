import Base
import Mock
import TestSupport
import Testing

@testable import App

/// Every way in which the mock wallet can be wrong by a web protocol of its own, over HTTP.
@Suite(.onOwnThreads) struct WebVariantTests {
  @Test(arguments: WebProtocolTests.web + WebProtocolTests.redirect)
  func `every variant of a protocol fails with exactly its codes and gives nothing away`(name: String) async throws {
    let variants = MockVariant.all.filter { $0.applicability != .anyProtocol && $0.holds(over: name) }
    #expect(variants.count > 2)
    try await withTestMode { bed in
      for variant in variants {
        let session = try await bed.createSession(by: name)
        let reply = try await bed.submit(bed.mockAnswer(session, variant: variant.name), to: session)
        #expect(reply.status == 200, "\(variant.name): \(reply.body)")
        let codes = variant.codes.map(\.rawValue)
        let isRefusal = codes.first?.hasPrefix("wallet.") == true
        let status = codes.isEmpty ? "verified" : isRefusal ? "canceled" : "failed"
        #expect(reply.json["status"]?.string == status, "\(variant.name)")
        #expect(reply.json["last_error"]?["code"]?.string == codes.first, "\(variant.name)")
        let reasons = (reply.json["last_error"]?["reasons"]?.array ?? []).compactMap { $0["code"]?.string }
        #expect(Set(reasons) == Set(codes), "\(variant.name)")
        guard !codes.isEmpty else { continue }
        #expect(reply.json["result"] == .null)
        #expect(VariantTests.personal.filter { reply.body.contains($0) } == [], "\(variant.name)")
      }
      #expect(VariantTests.personal.filter { bed.log.text.contains($0) } == [])
    }
  }
}
