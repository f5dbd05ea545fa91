import Base
import CBOR
import COSE
import Cryptography

/// The Brainpool curves' parameters (RFC 5639) and their numbers in COSE (RFC 9864).
struct BrainpoolSet: PublishedSet {
  let name = "brainpool"

  private static let file = "rfc5639-domain-parameters.json"

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.file) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    (try folder.json(Self.file).object ?? []).map { member in
      PublishedCase(
        part: "", id: member.name, description: "Parameters and numbers of \(member.name).", reference: "RFC 5639, 3",
        flag: VectorFlag("CurveParameters", .forgery), expectation: .accepted,
        judge: { Self.finding(on: member.name, member.value) })
    }
  }

  private static func finding(on name: String, _ parameters: JSON) -> PublishedCase.Finding {
    guard let curve = CurveParameters.curve(named: name) else { return .skipped("\(name) is not used by mdoc") }
    guard parameters["fieldBytes"]?.integer == Int64(curve.coordinateLength) else {
      return .other("its field has another length")
    }
    for algorithm in parameters["coseAlgFullySpecified"]?.object ?? [] {
      let ours = algorithm.value.integer.flatMap(SignatureAlgorithm.init(identifier:))
      guard ours?.name == algorithm.name, ours?.curves == [curve],
        ours?.hash.map({ "SHA-\($0.digestLength * 8)" }) == parameters["hash"]?.string
      else { return .other("\(algorithm.name) is another algorithm") }
    }
    guard hasNumber(parameters["coseCrv"]?.integer, curve) else { return .other("its number in COSE is another") }
    return CurveParameters.finding(on: curve, parameters)
  }

  /// Of the curve in a COSE_Key, as it is written.
  private static func hasNumber(_ number: Int64?, _ curve: Curve) -> Bool {
    guard let number, let key = try? PrivateKey(generatingOn: curve).publicKey,
      case .map(let entries) = COSEKey.encode(key)
    else { return false }
    return entries.contains { $0.key.encoded() == [0x20] && $0.value.encoded() == CBORValue.integer(number).encoded() }
  }
}
