import CBOR
import COSE
import Cryptography
import FoundationEssentials
import TestSupport
import Testing

/// The COSE working group's examples, as far as mdoc uses their structures: Sign1 and Mac0.
///
/// Unsupported is what mdoc leaves out, each with its reason; any other answer than the example's own is a failure.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct COSEWorkingGroupTests {
  enum Outcome: Equatable {
    case passed
    case unsupported(String)
    case wrong(String)
  }

  @Test(arguments: [
    ("sign1-tests", 8, ["alg only in the unprotected header": 1]),
    ("ecdsa-examples", 3, ["COSE_Sign": 4, "alg with another curve": 1]),
    ("eddsa-examples", 2, ["COSE_Sign": 2]),
    ("mac0-tests", 7, ["alg only in the unprotected header": 3]),
    ("hmac-examples", 2, ["COSE_Mac": 5, "HMAC 256/64": 1, "HMAC 384/384": 1, "HMAC 512/512": 1]),
    ("CWT", 1, ["COSE_Encrypt0": 2, "HMAC 256/64": 2]),
  ])
  func answersAsTheExamplesDo(group: String, passed: Int, unsupported: [String: Int]) throws {
    var passedCount = 0
    var reasons: [String: Int] = [:]
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(PublishedVectors.folder)/cose-wg/\(group)")
    for name in names.sorted() {
      switch try outcome(of: "cose-wg/\(group)/\(name)") {
      case .passed: passedCount += 1
      case .unsupported(let reason): reasons[reason, default: 0] += 1
      case .wrong(let found): Issue.record("\(group)/\(name): \(found)")
      }
    }
    let list = reasons.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    print("cose-wg \(group): \(passedCount) passed, \(reasons.values.reduce(0, +)) unsupported (\(list))")
    #expect(passedCount == passed)
    #expect(reasons == unsupported)
  }

  /// A generic library checks `ecdsa-sig-04` as it stands: ES512 with a P-256 key. Here the curve is bound to alg.
  @Test func refusesES512WithAKeyOnP256() throws {
    let vector: COSEVector = try PublishedVectors.json("cose-wg/ecdsa-examples/ecdsa-sig-04.json")
    let message = try COSESign1(parsing: CBORItem(parsing: vector.output.cbor.bytes), tag: COSESign1.tag)
    let key = try #require(try vector.input.sign0?.key?.publicKey())
    #expect(message.verify(payload: message.payload?.bytes ?? [], key: key) == .keyMismatch)
  }

  private func outcome(of path: String) throws -> Outcome {
    let vector: COSEVector = try PublishedVectors.json(path)
    let item = try CBORItem(parsing: vector.output.cbor.bytes)
    if let sign1 = vector.input.sign0 { return try check(vector, sign1, signed: item) }
    if let mac0 = vector.input.mac0 { return try check(vector, mac0, authenticated: item) }
    switch item.tag {
    case 98: return .unsupported("COSE_Sign")
    case 97: return .unsupported("COSE_Mac")
    case 16: return .unsupported("COSE_Encrypt0")
    default: return .wrong("unknown structure")
    }
  }

  private func check(_ vector: COSEVector, _ input: COSEVector.Message, signed item: CBORItem) throws -> Outcome {
    guard let message = try? COSESign1(parsing: item, tag: item.tag.map { _ in COSESign1.tag }) else {
      return vector.fail == true ? .passed : .wrong("not parsed")
    }
    guard let key = try input.key?.publicKey() else { return .wrong("no key") }
    let payload = message.payload?.bytes ?? []
    let aad = input.external?.bytes ?? []
    let signedBytes = message.toBeSigned(payload: payload, externalAAD: aad)
    if vector.fail != true, signedBytes != vector.intermediates?.toBeSigned?.bytes { return .wrong("Sig_structure") }
    switch message.verify(payload: payload, key: key, externalAAD: aad) {
    case .valid: return vector.fail == true ? .wrong("valid") : .passed
    case .invalid: return vector.fail == true ? .passed : .wrong("invalid")
    case .keyMismatch: return vector.fail == true ? .passed : .unsupported("alg with another curve")
    case .algorithmUnsupported:
      return vector.fail == true ? .passed : unsupported(message.headers, named: "another signature algorithm")
    }
  }

  private func check(_ vector: COSEVector, _ input: COSEVector.Message, authenticated item: CBORItem) throws -> Outcome
  {
    guard let message = try? COSEMac0(parsing: item, tag: item.tag.map { _ in COSEMac0.tag }) else {
      return vector.fail == true ? .passed : .wrong("not parsed")
    }
    guard let secret = input.recipients?.first?.key?.secret, !secret.isEmpty else { return .wrong("no key") }
    let payload = message.payload?.bytes ?? []
    let aad = input.external?.bytes ?? []
    let bytes = message.toBeAuthenticated(payload: payload, externalAAD: aad)
    if vector.fail != true, bytes != vector.intermediates?.toBeMACed?.bytes { return .wrong("MAC_structure") }
    switch message.verify(payload: payload, key: SecretBytes(copying: secret), externalAAD: aad) {
    case .valid: return vector.fail == true ? .wrong("valid") : .passed
    case .invalid: return vector.fail == true ? .passed : .wrong("invalid")
    case .algorithmUnsupported:
      let names: [Int64: String] = [4: "HMAC 256/64", 6: "HMAC 384/384", 7: "HMAC 512/512"]
      let name = message.headers.algorithmIdentifier.flatMap { names[$0] }
      return vector.fail == true ? .passed : unsupported(message.headers, named: name ?? "another MAC")
    }
  }

  private func unsupported(_ headers: COSEHeaders, named name: String) -> Outcome {
    let isUnprotected = headers.algorithmIdentifier == nil && headers.parameter(COSEHeaders.Label.algorithm) != nil
    return .unsupported(isUnprotected ? "alg only in the unprotected header" : name)
  }
}
