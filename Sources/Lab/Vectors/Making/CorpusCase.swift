import Base
import Cryptography
import Mock

/// One vector to be made: a variant of the mock wallet, and under which circumstances it answers and is judged.
struct CorpusCase: MockDeclared {
  /// How the answer travels.
  enum Form: Sendable, Hashable {
    case appleInApp, proximity, proximityMAC, annexC
    case openID4VP(protocolName: String, isEncrypted: Bool = true, usesMAC: Bool = false)
  }

  /// What the vector says of itself; it may say something else than the variant does.
  var declaration: MockDeclaration
  var group: String
  var variant: MockVariant
  var form: Form
  var request: MockRequest
  /// Members that only some requests have, beside those of the mock request.
  var minimumAge: Int?
  var requiresAllDocuments = false
  var policy = VectorPolicy()
  /// The wallet answers as if only the first document had been asked for.
  var answersFirstOnly = false
  /// Seconds from when the answer is made to when it is judged.
  var judgedAfter: Int64 = 0
  /// In place of those that the answer needs.
  var anchors: [String]?
  /// In place of the wallet's answer.
  var input: VectorInput?
  /// In place of the one that the codes have by themselves.
  var stage: VectorStage?
  var reference: String?
  var features: [String] = []
  /// What is served while the answer is judged.
  var publish: (@Sendable (MockAuthority, Timestamp) throws -> [MockPublication])?
  /// The list whose anchors are trusted, by its case in the group of lists.
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

  /// A case of its own around a right answer, or another variant.
  static func make(
    _ id: String, group: String, _ summary: String, cases: String = "", codes: [Code] = [], warnings: [Code] = [],
    variant: MockVariant = .good, form: Form = .proximity, change: (inout CorpusCase) -> Void = { _ in }
  ) -> CorpusCase {
    var made = CorpusCase(variant, group: group, form: form, id: id)
    made.declaration = MockDeclaration(id, summary, cases: cases, codes: codes, warnings: warnings)
    change(&made)
    return made
  }
}

/// What a vector says about itself, made from what its case declares.
extension CorpusCase {
  var expectation: VectorExpectation {
    guard let first = codes.first else {
      return VectorExpectation(stage: .accepted, warnings: warnings.map(\.rawValue))
    }
    return VectorExpectation(stage: stage ?? naturalStage(first), codes: codes.map(\.rawValue))
  }

  private func naturalStage(_ code: Code) -> VectorStage {
    let name = code.rawValue
    if VectorStage.opening.contains(where: name.hasPrefix) || code == .stateMismatch || isEncryptedToPublishedKey {
      return .open
    }
    if name.hasPrefix("cbor.") { return readsBeforeAuthentication ? (isEnvelopeFault ? .open : .parse) : .authenticate }
    if Self.readWithTheResponse.contains(code) { return .parse }
    return VectorStage.natural(code)
  }

  /// The mobile security object and the protected header are read only when it comes to the signature.
  private var readsBeforeAuthentication: Bool {
    !["mso", "payload", "protected"].contains { part in id.split(separator: "-").contains { $0 == part } }
  }

  /// Apple's published key is recognised before anything is decrypted.
  private var isEncryptedToPublishedKey: Bool { id.hasPrefix("apple-simulator-key") }

  private var isEnvelopeFault: Bool {
    variant.applicability == .appleInApp || variant.applicability == .annexC || isTooLargeAltogether
  }

  /// The envelope around what is too large is so itself.
  private var isTooLargeAltogether: Bool { form == .annexC && codes == [.cborInputTooLarge] }

  private static let readWithTheResponse: Set<Code> = [.responseMalformed, .itemMalformed, .itemNotTag24]

  var clause: String {
    reference ?? (codes.first ?? warnings.first)?.entry.clause ?? "ISO/IEC 18013-5:2021, 9.3"
  }

  /// What refuses is a must, but for strict mode; what is accepted is, unless it warns or needs what few have.
  var importance: TestVector.Importance {
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
  /// What letting it pass would mean, for each of its codes.
  var flags: [VectorFlag] {
    let found = (codes.isEmpty ? warnings : codes).map(VectorFlag.ofMissing)
    return codes.isEmpty ? [.control] + found : found
  }
}
