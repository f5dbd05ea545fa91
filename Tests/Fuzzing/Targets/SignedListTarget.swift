import Base
import FuzzDriver
import Mdoc
import PKIX
import Trust

@testable import Mock

/// Lists that publishers sign and that the verifier fetches: VICAL, lists of trusted entities, status and identifier
/// lists, revocation lists.
///
/// Options: the form, and whether the bytes are a whole list or a payload. The mock's publisher signs a payload, so
/// that checks after the signature are reached.
struct SignedListTarget: FuzzTarget {
  static let name = "signed-lists"
  static let dictionary = [
    "certificateInfos", "certificate", "serialNumber", "ski", "docType", "date", "nextUpdate", "vicalIssueID", "LoTE",
    "ListAndSchemeInformation", "TrustedEntitiesList", "TrustedEntityServices", "ServiceInformation",
    "ServiceDigitalIdentity", "X509Certificates", "X509SKIs", "ServiceStatus", "StatusStartingTime", "NextUpdate",
    "LoTESequenceNumber", "lst", "bits", "identifiers", "\\x19\\xff\\xfd", "\\x19\\xff\\xfa", "\\x19\\xff\\xfe",
    "\\xc0", "\\xc2", "\\x78\\x9c", "\\x78\\xda", "\\x17\\x0d", "\\x18\\x0f",
    "\\x06\\x03\\x55\\x1d\\x1c", "\\x06\\x03\\x55\\x1d\\x1b",
  ]

  private let authority: MockAuthority
  private let now: Timestamp
  private let root: Certificate
  private let vicals: VICALVerifier
  private let entities: TrustedEntityListVerifier
  /// The payloads that were signed.
  private var signed: Set<[UInt8]> = []
  private(set) var seeds: [[UInt8]] = []

  init(_ material: Material) throws {
    authority = material.authority
    now = material.now
    root = try Certificate(der: authority.goodRoot(at: now))
    func signers(_ anchor: [UInt8]) throws -> SignerPath.Anchors {
      .init(configured: [try Certificate(der: anchor)], allowsTestCertificates: true)
    }
    vicals = VICALVerifier(
      source: TrustListSource(
        signers: try signers(MockList.Kind.vical.signerAnchor(of: authority, at: now)), tier: .test))
    entities = TrustedEntityListVerifier(
      source: TrustedEntityListSource(
        TrustListSource(
          signers: try signers(MockList.Kind.trustedEntities.signerAnchor(of: authority, at: now)), tier: .test),
        issuance: [MockList.issuanceService: MockList.docTypes], revocation: [MockList.revocationService]))
    for form in ListForm.allCases {
      for list in try form.published(by: authority, at: now) {
        seeds.append([UInt8(form.rawValue), 0] + list)
        guard let payload = form.payload(of: list) else { continue }
        signed.insert(payload)
        seeds.append([UInt8(form.rawValue), 1] + payload)
      }
    }
  }

  func run(_ input: [UInt8]) {
    var choices = Choices(input)
    let form = ListForm.allCases[choices.byte() % ListForm.allCases.count]
    let isWhole = choices.byte() & 1 == 0
    let list: [UInt8]
    if isWhole {
      list = choices.bytes
    } else if let made = try? form.signed(choices.bytes, by: authority, at: now) {
      list = made
    } else {
      return
    }
    guard isAccepted(list, form), isWhole else { return }
    require(form.payload(of: list).map(signed.contains) == true, "what is accepted was signed")
  }

  private func isAccepted(_ list: [UInt8], _ form: ListForm) -> Bool {
    switch form {
    case .vical:
      let evaluation = vicals.evaluate(list, at: now)
      check(evaluation.checks, evaluation.isAccepted, evaluation.anchors, evaluation.validUntil)
      return evaluation.isAccepted
    case .trustedEntities:
      let evaluation = entities.evaluate(list, at: now)
      check(evaluation.checks, evaluation.isAccepted, evaluation.anchors, evaluation.validUntil)
      require(evaluation.isAccepted || evaluation.statusListSigners.isEmpty, "a refused list makes nobody a signer")
      return evaluation.isAccepted
    case .statusList: return readStatuses(list, .statusList(index: .max))
    case .identifierList: return readStatuses(list, .identifierList(identifier: []))
    case .revocationList:
      guard let crl = try? VerifiedCRL(verifying: list, issuer: root, at: now) else { return false }
      require((crl.thisUpdate...crl.nextUpdate).contains(now), "a list that is verified is current")
      return true
    }
  }

  private func check(_ checks: [Check], _ isAccepted: Bool, _ anchors: [TrustAnchor], _ validUntil: Timestamp?) {
    require(isAccepted != checks.contains { $0.outcome == .failed }, "a list that is refused says why")
    require(isAccepted || anchors.isEmpty && validUntil == nil, "a refused list makes nobody trusted")
    require(anchors.allSatisfy { $0.tier == .test && $0.docTypes?.isEmpty == false }, "an anchor is for document types")
    require(validUntil.map { $0 >= now } != false, "a list that is accepted is current")
  }

  private func readStatuses(_ list: [UInt8], _ place: StatusReference.Entry) -> Bool {
    let uri = if case .statusList = place { authority.addresses.statusList } else { authority.addresses.identifierList }
    let reference = StatusReference(place, uri: uri)
    let source = StatusListSource(reference, anchor: root, allowsJWT: true)
    guard let verified = try? StatusListVerifier().read(list, from: source, at: now) else {
      return false
    }
    require(verified.expires > now, "a list that is verified is current")
    require(verified.keptBytes <= Limits.unpackedListBytes + 64 * list.count, "a list takes bounded memory")
    if case .good = verified.finding(for: reference, at: now), case .statusList = place {
      fatalError("broken rule: an entry that is not there is not good")
    }
    return true
  }
}
