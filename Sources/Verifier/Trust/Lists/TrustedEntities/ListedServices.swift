import Base
import PKIX

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
