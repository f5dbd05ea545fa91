import Base
import PKIX

/// What an operator configures for one list of trusted entities: who may sign it, and what its services are good for.
public struct TrustedEntityListSource: Sendable {
  public var signers: SignerPath.Anchors
  /// The document types that the certificates of a service type may vouch for. Services of other types are passed over.
  public var issuance: [String: [String]]
  /// The service types whose certificates sign status lists.
  public var revocation: Set<String>
  /// What document signers under these anchors must be certified for; nil: what their documents' types ask for.
  public var extendedKeyUsages: Set<String>?
  /// Certificates between a listed authority and a document signer.
  public var maxPathLength: Int
  /// Where revocation lists of the authorities may be asked for.
  public var crlAddresses: AuthorityCRLAddresses
  public var tier: TrustAnchor.Tier
  /// What the list should keep to; nil: the general form alone.
  public var profile: TrustedEntityListProfile?
  /// Where the list is from, for people.
  public var name: String

  public init(
    signers: SignerPath.Anchors, issuance: [String: [String]], revocation: Set<String> = [],
    extendedKeyUsages: Set<String>? = nil, maxPathLength: Int = 0,
    crlAddresses: AuthorityCRLAddresses = .init(.named), tier: TrustAnchor.Tier = .live,
    profile: TrustedEntityListProfile? = nil, name: String = ""
  ) {
    self.signers = signers
    self.issuance = issuance
    self.revocation = revocation
    self.extendedKeyUsages = extendedKeyUsages
    self.maxPathLength = maxPathLength
    self.crlAddresses = crlAddresses
    self.tier = tier
    self.profile = profile
    self.name = name
  }
}

/// What one signed list of trusted entities came to.
public struct TrustedEntityListEvaluation: Sendable {
  public let checks: [Check]
  /// The list, from where its signature verified on; whether it is in force, `isAccepted` says.
  public let list: TrustedEntityList?
  /// Who signed it, first, up to the configured anchor; empty where that was not established.
  public let signerPath: [Certificate]
  /// What the list makes trusted; empty unless it is accepted.
  public let anchors: [TrustAnchor]
  /// Who may sign status lists; empty unless the list is accepted.
  public let statusListSigners: [StatusListSigner]
  /// Services of types that are not configured, by type; those without a type under the empty text.
  public let ignoredServices: [String: Int]

  public var isAccepted: Bool { list != nil && !checks.contains { $0.outcome == .failed } }

  /// Until when it may be relied on: its own end and those of its signer's path. Nil unless it is accepted.
  public var validUntil: Timestamp? {
    guard isAccepted, let end = list?.scheme.nextUpdate else { return nil }
    return ([end] + signerPath.map(\.validity.upperBound)).min()
  }

  /// What is to be remembered of an accepted list, durably, and given to the next evaluation.
  public var accepted: LastAccepted? {
    guard isAccepted, let scheme = list?.scheme else { return nil }
    return LastAccepted(sequenceNumber: scheme.sequenceNumber, issued: scheme.issued)
  }

  public struct LastAccepted: Sendable, Hashable {
    public let sequenceNumber: Int64
    public let issued: Timestamp

    public init(sequenceNumber: Int64, issued: Timestamp) {
      self.sequenceNumber = sequenceNumber
      self.issued = issued
    }
  }

  /// A certificate of an entity's revocation service: an authority or the signer itself.
  public struct StatusListSigner: Sendable {
    public let certificate: Certificate
    /// The certificates of the same entity's issuance services: whose documents' status it may speak of.
    public let issuers: [Certificate]
  }
}

/// Sorts a list's services by what their source configures: anchors, signers of status lists, and the rest.
struct ListedServices {
  private(set) var anchors: [TrustAnchor] = []
  private(set) var statusListSigners: [TrustedEntityListEvaluation.StatusListSigner] = []
  private(set) var ignored: [String: Int] = [:]
  private(set) var findings = ListFindings()
  private var places: [[UInt8]: Int] = [:]

  init(of list: TrustedEntityList, source: TrustedEntityListSource, at now: Timestamp) {
    for (index, entity) in list.entities.enumerated() {
      var issuers: [Certificate] = []
      var signers: [Certificate] = []
      for service in entity.services {
        let type = service.type ?? ""
        let docTypes = source.issuance[type]
        guard docTypes != nil || source.revocation.contains(type) else {
          ignored[type, default: 0] += 1
          continue
        }
        guard service.isGranted(at: now) else {
          findings.note(.listEntryNotGranted, "entity \(index + 1): \(service.status ?? "")")
          continue
        }
        if let docTypes {
          issuers += service.certificates
          for certificate in service.certificates { add(certificate, docTypes: docTypes, source: source) }
        } else {
          signers += service.certificates
        }
      }
      statusListSigners += signers.map { .init(certificate: $0, issuers: issuers) }
    }
  }

  /// An authority vouches for those it certifies, any other certificate for itself alone (direct trust).
  private mutating func add(_ certificate: Certificate, docTypes: [String], source: TrustedEntityListSource) {
    if let place = places[certificate.sha256] {
      anchors[place].add(docTypes: docTypes)
      return
    }
    places[certificate.sha256] = anchors.count
    var anchor = TrustAnchor(
      certificate: certificate, kind: certificate.extensions.isCA ? .authority : .documentSigner,
      docTypes: docTypes, extendedKeyUsages: source.extendedKeyUsages, maxPathLength: source.maxPathLength,
      tier: source.tier, source: source.name)
    anchor.crlAddresses = source.crlAddresses.rule(for: certificate)
    anchors.append(anchor)
  }
}
