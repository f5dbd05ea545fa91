import Base
import Cryptography
import Longfellow
import Mock
import Vectors

/// One vector to be made: a variant of the mock wallet, and the circumstances in which it answers and is judged.
struct CorpusCase: MockDeclared {
  /// How the answer travels.
  enum Form: Sendable, Hashable {
    case appleInApp, proximity, proximityMAC, annexC
    case openID4VP(protocolName: String, isEncrypted: Bool = true, usesMAC: Bool = false)
  }

  /// The vector's description. It can differ from the variant's declaration.
  var declaration: MockDeclaration
  var group: String
  var variant: MockVariant
  var form: Form
  var request: MockRequest
  /// Members of the request that the mock request does not have.
  var minimumAge: Int?
  var acceptsExpired = false
  var requiresAllDocuments = false
  var policy = VectorPolicy()
  /// The wallet answers as if only the first document had been asked for.
  var answersFirstOnly = false
  /// Seconds between making the answer and judging it.
  var judgedAfter: Int64 = 0
  /// Replaces the trust anchors that the answer needs; nil keeps them.
  var anchors: [String]?
  /// Replaces the wallet's answer; nil keeps it.
  var input: VectorInput?
  /// Replaces the stage that follows from the codes; nil keeps it.
  var stage: VectorStage?
  var reference: String?
  var features: [String] = []
  /// Whether the verifier asked for the proof that the wallet was asked for.
  var asksForProof = true
  /// The verifier's session is another than the wallet's.
  var isOfAnotherSession = false
  /// The case of the same group whose input this one's is described by; nil if it stands alone.
  var base: String?
  /// Makes the lists that publishers serve while the answer is judged; nil if they serve none.
  var publish: (@Sendable (MockAuthority, Timestamp) throws -> [MockPublication])?
  /// The list of anchors that is trusted, as a case of the group of lists; nil if there is none.
  var anchorList: ListCase?

  init(_ variant: MockVariant, group: String, form: Form, id: String? = nil) {
    declaration = variant.declaration
    declaration.name = id ?? variant.name
    self.group = group
    self.variant = variant
    self.form = form
    request = variant.request
  }

  var id: String { name }

  /// Makes a case around a right answer or another variant, with its own id and declaration.
  static func make(
    _ id: String, group: String, _ summary: String, cases: String = "", codes: [Code] = [], warnings: [Code] = [],
    variant: MockVariant = .good, form: Form = .proximity, change: (inout CorpusCase) -> Void = { _ in }
  ) -> CorpusCase {
    var made = CorpusCase(variant, group: group, form: form, id: id)
    made.declaration = MockDeclaration(id, summary, cases: cases)
    made.declaration.codes = codes
    made.declaration.warnings = warnings
    change(&made)
    return made
  }
}

/// The vector's own statements, derived from the declaration of its case.
extension CorpusCase {
  var expectation: VectorExpectation {
    guard let first = codes.first else {
      return VectorExpectation(stage: .accepted, warnings: warnings.map(\.rawValue))
    }
    return VectorExpectation(stage: stage ?? naturalStage(first), codes: codes.map(\.rawValue))
  }

  private func naturalStage(_ code: Code) -> VectorStage {
    let name = code.rawValue
    if VectorStage.opening.contains(where: name.hasPrefix) || isEncryptedToPublishedKey { return .open }
    if name.hasPrefix("cbor.") { return readsBeforeAuthentication ? (isEnvelopeFault ? .open : .parse) : .authenticate }
    if Self.readWithTheResponse.contains(code) { return .parse }
    return VectorStage.natural(code)
  }

  /// Whether the fault is found while reading, before the signature. The mobile security object and the protected
  /// header are read only when the signature is checked.
  private var readsBeforeAuthentication: Bool {
    !["mso", "payload", "protected"].contains { part in id.split(separator: "-").contains { $0 == part } }
  }

  /// Whether the answer is encrypted to Apple's published key. It is recognised before anything is decrypted.
  private var isEncryptedToPublishedKey: Bool { id.hasPrefix("apple-simulator-key") }

  private var isEnvelopeFault: Bool {
    variant.applicability == .appleInApp || variant.applicability == .annexC || isTooLargeAltogether
  }

  /// Whether the envelope is too large because its content is.
  private var isTooLargeAltogether: Bool { form == .annexC && codes == [.cborInputTooLarge] }

  private static let readWithTheResponse: Set<Code> = [.responseMalformed, .itemMalformed, .itemNotTag24]

  var clause: String {
    reference ?? (codes.first ?? warnings.first)?.registered?.entry.clause ?? "ISO/IEC 18013-5:2021, 9.3"
  }

  /// A refused case is `must`, except in strict mode and where other verifiers may choose otherwise. An accepted case
  /// is `must`, unless it warns or needs a rare feature.
  var importance: TestVector.Importance {
    if TestVector.Importance.choices.contains(variant.name) || TestVector.Importance.choices.contains(id) {
      return .should
    }
    if policy.isStrict || allFeatures.contains(where: Self.isRare) { return .should }
    return codes.isEmpty && !warnings.isEmpty ? .should : .must
  }

  private static func isRare(_ feature: String) -> Bool {
    feature.hasPrefix("curve-") && !["curve-P-256", "curve-P-384"].contains(feature)
      || feature == "cbor-indefinite-lengths" || feature == "rfc9864-algorithms"
  }

  var allFeatures: [String] {
    var found = features
    switch form {
    case .appleInApp: found.append("apple-in-app")
    case .proximity: break
    case .proximityMAC: found.append("device-mac")
    case .annexC: found.append("org-iso-mdoc")
    case .openID4VP(let name, _, let usesMAC):
      found.append(name == VectorSession.OpenID4VP.annexB ? "openid4vp-annex-b" : "openid4vp")
      if usesMAC { found.append("device-mac") }
    }
    let circuits = request.documents.compactMap(\.circuits.first)
    if !circuits.isEmpty { found.append("zero-knowledge") }
    for circuit in circuits { found.append(circuit.feature) }
    if policy.isStrict { found.append("strict-policy") }
    if publish != nil { found.append("revocation") }
    if policy.allowsJWTStatusLists { found.append("jwt-status-lists") }
    if let anchorList { found.append(anchorList.format.rawValue) }
    if let input, input.count >= Limits.responseBytes { found.append("large-input") }
    if codes.isEmpty, !warnings.isEmpty { found.append("warnings") }
    if codes.contains(.appleSimulatorAnswer) || codes.contains(.appleProfileAnswer) { found.append("apple-mocks") }
    if cases.contains("P02") { found.append("cbor-indefinite-lengths") }
    if variant.name == "algorithms-fully-specified" { found.append("rfc9864-algorithms") }
    for curve in Curve.allCases where ["issuer-", "device-"].contains(where: { isVariant($0, curve) }) {
      found.append("curve-\(curve.rawValue)")
    }
    return Set(found).sorted()
  }

  private func isVariant(_ prefix: String, _ curve: Curve) -> Bool {
    let label = curve.rawValue.lowercased()
    return [label, label.filter { $0 != "-" }].contains { variant.name == prefix + $0 }
  }
}

extension MockDeclared {
  /// A flag for each code: the consequence if a verifier lets the fault pass. Right answers have the control flag too.
  var flags: [VectorFlag] {
    let found = (codes.isEmpty ? warnings : codes).map(VectorFlag.ofMissing)
    return codes.isEmpty ? [.control] + found : found
  }
}
