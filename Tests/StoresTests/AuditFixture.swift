import Base
import Sessions

extension SessionStore {
  /// One attempt that failed.
  func answer(of relyingParty: String = "shop") async throws -> OutcomeRecording {
    let session = try await add(makeSession(of: relyingParty))
    let attempt = try await take(session)
    return try await recordOutcome(
      AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: failure, report: nil),
      at: start, finishing: nil)
  }
}

/// The result of verifying all chains of a store.
func auditVerdict(_ store: any AuditStore) async throws -> AuditVerdict {
  var lines: [UInt8] = []
  try await store.export(reading: { $0 }) { (bytes: [UInt8]) throws(StoreError) in lines += bytes }
  var verification = AuditVerification()
  for (index, line) in lines.split(separator: UInt8(ascii: "\n")).enumerated() {
    verification.read(Array(line), at: AuditPosition(file: "a", line: index + 1))
  }
  verification.endFile("a")
  return verification.verdict()
}
