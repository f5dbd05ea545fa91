import Base
import Mdoc
import Mock
import TestSupport
import Testing

@testable import App

/// Revocation from end to end: a response submitted over HTTP, lists fetched over HTTP, and the reply to the client
/// (ISO/IEC 18013-5:2021, 9.3.3; second edition, 12.3.6).
@Suite(.onOwnThreads, .serialized) struct RevocationTests {
  @Test func `every list of the mock publisher has its own code`() async throws {
    let lists = MockPublishedList.chosen.filter { $0.manner != .isSilent }
    #expect(lists.count > 60)
    try await withTestMode { bed in
      for list in lists {
        let outcome = try await bed.outcome(list.name)
        #expect(outcome.code == list.code?.rawValue, "\(list.name)")
        #expect(outcome.codes == (list.code.map { [$0.rawValue] } ?? []), "\(list.name)")
        #expect(outcome.status == (list.code == nil ? "verified" : "failed"), "\(list.name)")
        #expect(outcome.revocation == (list.code == nil ? "good" : nil), "\(list.name)")
        #expect(outcome.policy == "require_good", "\(list.name)")
      }
    }
  }

  @Test func `a plain answer in test mode is verified against the authority's list`() async throws {
    try await withTestMode { bed in
      let outcome = try await bed.outcome()
      #expect(outcome.status == "verified")
      #expect(outcome.revocation == "good")
      #expect(outcome.policy == "require_good")
      #expect(bed.asked == ["iaca.crl": 1])
    }
  }

  @Test func `where doubt is allowed it warns, and revoked is revoked`() async throws {
    try await withTestMode(revocation: .allowUndetermined) { bed in
      for (name, code) in [
        ("crl-unreachable", "revocation.unavailable"), ("status-unreachable", "revocation.unavailable"),
        ("crl-stale", "revocation.crl_invalid"), ("status-bad-signature", "revocation.status_list_invalid"),
      ] {
        let doubtful = try await bed.outcome(name)
        #expect(doubtful.status == "verified", "\(name)")
        #expect(doubtful.revocation == "undetermined", "\(name)")
        #expect(doubtful.policy == "allow_undetermined")
        #expect(doubtful.warnings.contains(code), "\(name)")
      }
      for (name, code) in [
        ("crl-signer-revoked", "revocation.signer_revoked"), ("status-revoked", "revocation.document_revoked"),
        ("status-suspended", "revocation.document_suspended"),
      ] {
        let revoked = try await bed.outcome(name)
        #expect(revoked.code == code, "\(name)")
        #expect(revoked.policy == "allow_undetermined")
      }
      try await bed.expectGood()
    }
  }

  @Test func `where revocation is off nobody is asked`() async throws {
    try await withTestMode(revocation: .off) { bed in
      for name in ["good", "crl-signer-revoked", "status-revoked", "status-unreachable"] {
        let outcome = try await bed.outcome(name)
        #expect(outcome.status == "verified", "\(name)")
        #expect(outcome.revocation == "not_run", "\(name)")
        #expect(outcome.policy == "off")
      }
      #expect(bed.asked == [:])
    }
  }

  @Test func `no request leaves for a document whose issuer is not trusted or did not sign it`() async throws {
    try await withTestMode { bed in
      for (name, code) in [
        ("anchor-unknown", "trust.issuer_unknown"), ("anchor-look-alike", "trust.issuer_unknown"),
        ("anchor-expired", "trust.anchor_expired"), ("signer-signature", "trust.certificate.signature_invalid"),
        ("issuer-signature-bit-flipped", "mdoc.issuer_auth.signature_invalid"),
        ("issuer-signature-empty", "mdoc.issuer_auth.signature_invalid"),
      ] {
        try await bed.expectRefused(name, with: code)
      }
      #expect(bed.asked == [:])
      let metrics = try await bed.api.get("/metrics").body
      #expect(metrics.contains("mdoc_list_fetches_total{outcome=\"fetched\"} 0\n"))
    }
  }

  @Test func `a redirect leads to no other network`() async throws {
    try await withTestMode { bed in
      for address in ["http://10.0.0.1/iaca.crl", "http://169.254.169.254/latest", "file:///etc/hostname"] {
        bed.mode.publisher.publish(.redirect(to: address), at: "iaca.crl")
        let outcome = try await bed.outcome()
        #expect(outcome.codes == ["revocation.source_not_allowed"], "\(address)")
        bed.clock.advance(Limits.failedFetchLifetime)
      }
    }
  }

  @Test func `the metrics count what was fetched, and name nobody`() async throws {
    try await withTestMode { bed in
      for name in ["good", "status-valid", "status-too-large", "crl-unreachable"] { _ = try await bed.outcome(name) }
      let metrics = try await bed.api.get("/metrics").body
      for (outcome, count) in [("fetched", 2), ("too_large", 1), ("unavailable", 1), ("not_allowed", 0)] {
        #expect(metrics.contains("mdoc_list_fetches_total{outcome=\"\(outcome)\"} \(count)\n"), "\(outcome)")
      }
      for text in [metrics, bed.log.text] {
        #expect(!text.contains(bed.mode.publisher.baseURL))
        #expect(!text.contains("iaca.crl"))
      }
    }
  }
}

/// The outcome of one response, as an API client sees it.
struct Outcome: Sendable {
  let session: JSON
  let report: JSON

  var status: String? { session["status"]?.string }
  /// The reason that a client reads first.
  var code: String? { session["last_error"]?["code"]?.string }
  var codes: [String] { (session["last_error"]?["reasons"]?.array ?? []).compactMap { $0["code"]?.string } }
  var revocation: String? { session["result"]?["documents"]?.array?.first?["revocation"]?.string }
  var policy: String? { report["revocation_policy"]?.string }
  var warnings: [String] {
    let documents = report["documents"]?.array ?? []
    return documents.flatMap { $0["checks"]?.array ?? [] }.filter { $0["outcome"] == "warning" }
      .compactMap { $0["code"]?.string }
  }
}

extension TestBed {
  /// Creates a session, lets the mock wallet respond, and submits the response, all over HTTP.
  func outcome(_ variant: String = "good") async throws -> Outcome {
    let session = try await createSession()
    return try await outcome(of: mockAnswer(session, variant: variant), to: session)
  }

  func outcome(of answer: JSON, to session: JSON) async throws -> Outcome {
    let reply = try await submit(answer, to: session)
    #expect(reply.status == 200, "\(reply.body)")
    let report = try await api.get("/v1/verification_reports/\(reply.json["report"]?["id"]?.string ?? "none")")
    return Outcome(session: reply.json, report: report.json)
  }

  func expectGood(_ variant: String = "good", _ location: SourceLocation = #_sourceLocation) async throws {
    let outcome = try await outcome(variant)
    #expect(outcome.status == "verified", "\(variant): \(outcome.codes)", sourceLocation: location)
    #expect(outcome.revocation == "good", sourceLocation: location)
  }

  func expectRefused(
    _ variant: String = "good", with code: String, _ location: SourceLocation = #_sourceLocation
  ) async throws {
    let outcome = try await outcome(variant)
    #expect(outcome.codes == [code], "\(variant)", sourceLocation: location)
  }

  /// The addresses that were fetched from the publisher, with counts.
  var asked: [String: Int] { mode.publisher.requests }
}
