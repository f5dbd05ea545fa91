import Base
import Mdoc
import Mock
import Testing

@testable import App

/// What came of one answer, as an API client sees it.
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
  /// Creates a session, has the mock wallet answer, and submits: over HTTP, all of it.
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

  /// What the publisher was asked for, and how often.
  var asked: [String: Int] { mode.publisher.requests }
}
