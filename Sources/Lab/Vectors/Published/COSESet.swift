import Base
import CBOR
import COSE
import Cryptography

/// The COSE working group's examples, as far as mdoc uses their structures: Sign1 and Mac0. What mdoc leaves out is
/// skipped by its name; any other answer than the example's own is a failure.
struct COSESet: PublishedSet {
  let name = "cose-wg"

  private static let folders = [
    "CWT", "ecdsa-examples", "eddsa-examples", "hmac-examples", "mac0-tests", "sign1-tests",
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has("sign1-tests/sign-pass-01.json") }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for part in try folder.folders() where Self.folders.contains(part.name) {
      for file in try part.files() where file.hasSuffix(".json") {
        let example = COSEExample(try part.json(file))
        cases.append(
          PublishedCase(
            part: part.name, id: String(file.dropLast(".json".count)), description: "\(example.title).",
            reference: "RFC 9052", flag: VectorFlag("COSE", example.isWrong ? .forgery : .interoperability),
            expectation: example.isWrong ? .refused([]) : .accepted, judge: { Self.finding(on: example) }))
      }
    }
    return cases
  }

  private static func finding(on example: COSEExample) -> PublishedCase.Finding {
    guard let item = try? CBORItem(parsing: example.message) else { return .refused() }
    if let input = example.sign1 { return signed(item, example, input) }
    if let input = example.mac0 { return authenticated(item, example, input) }
    switch item.tag {
    case 98: return .skipped("COSE_Sign")
    case 97: return .skipped("COSE_Mac")
    case 16: return .skipped("COSE_Encrypt0")
    default: return .other("its structure is not known")
    }
  }

  private static func signed(_ item: CBORItem, _ example: COSEExample, _ input: JSON) -> PublishedCase.Finding {
    guard let message = try? COSESign1(parsing: item, tag: item.tag.map { _ in COSESign1.tag }) else {
      return .refused()
    }
    guard let key = example.publicKey else { return .other("its key is refused") }
    let payload = message.payload?.bytes ?? []
    let aad = input.hex("external")
    let bytes = message.toBeSigned(payload: payload, externalAAD: aad)
    guard example.isWrong || bytes == example.toBeSigned else { return .other("its Sig_structure is another") }
    switch message.verify(payload: payload, key: key, externalAAD: aad) {
    case .valid: return .accepted
    case .invalid: return .refused()
    case .keyMismatch: return example.isWrong ? .refused() : .skipped("alg with another curve")
    case .algorithmUnsupported: return unsupported(message.headers, example, "another signature algorithm")
    }
  }

  private static func authenticated(
    _ item: CBORItem, _ example: COSEExample, _ input: JSON
  ) -> PublishedCase.Finding {
    guard let message = try? COSEMac0(parsing: item, tag: item.tag.map { _ in COSEMac0.tag }) else {
      return .refused()
    }
    guard !example.secret.isEmpty else { return .other("it has no key") }
    let payload = message.payload?.bytes ?? []
    let aad = input.hex("external")
    let bytes = message.toBeAuthenticated(payload: payload, externalAAD: aad)
    guard example.isWrong || bytes == example.toBeMACed else { return .other("its MAC_structure is another") }
    switch message.verify(payload: payload, key: SecretBytes(copying: example.secret), externalAAD: aad) {
    case .valid: return .accepted
    case .invalid: return .refused()
    case .algorithmUnsupported:
      let names: [Int64: String] = [4: "HMAC 256/64", 6: "HMAC 384/384", 7: "HMAC 512/512"]
      let name = message.headers.algorithmIdentifier.flatMap { names[$0] }
      return unsupported(message.headers, example, name ?? "another MAC")
    }
  }

  private static func unsupported(
    _ headers: COSEHeaders, _ example: COSEExample, _ name: String
  ) -> PublishedCase.Finding {
    if example.isWrong { return .refused() }
    let isUnprotected = headers.algorithmIdentifier == nil && headers.parameter(COSEHeaders.Label.algorithm) != nil
    return .skipped(isUnprotected ? "alg only in the unprotected header" : name)
  }
}
