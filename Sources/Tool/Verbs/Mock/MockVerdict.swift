import Base
import Mdoc
import Mock
import Presentation
import TestMode
import Trust

/// What a verifier that trusts the mock authority finds in an answer. The mock signs whatever a person's file says, also
/// what no verifier accepts: a right answer is verified before it is said that it verifies.
enum MockVerdict {
  /// The codes of what is wrong; empty if nothing is.
  ///
  /// - Parameter transcript: the one that the verifier has to build.
  static func codes(
    of deviceResponses: [[UInt8]], over transcript: [UInt8], from authority: MockAuthority, at now: Timestamp
  ) throws(Failure) -> [Code] {
    let verifier = Proximity(verifier: MdocVerifier(trust: try trust(in: authority, at: now)))
    let transcript: SessionTranscript = try own { try SessionTranscript(encoded: transcript) }
    return deviceResponses.flatMap { response in
      verifier.authenticate(response, transcript: transcript, readerKey: nil, request: nil, at: now)
        .conclude().report.reasons.map(\.code)
    }
  }

  private static func trust(in authority: MockAuthority, at now: Timestamp) throws(Failure) -> TrustStore {
    try own {
      try TrustStore(
        anchors: authority.walletAnchors(at: now).map(TestServer.anchor), allowsTestCertificates: true)
    }
  }

  /// What the mock made for itself, its verifier can read: another outcome is our own fault.
  private static func own<Value>(_ body: () throws -> Value) throws(Failure) -> Value {
    do { return try body() } catch { throw .internal("the mock's own answer could not be verified: \(error)") }
  }
}
