/// The certificates from a signer to an anchor, with the facts about each that RFC 5280, 6.1 asks for.
///
/// It states facts and decides nothing. `PathValidator`, for document signers, and `SignerPath`, for the signers of
/// lists, require the facts, each with its own codes and exceptions.
struct CertificationPath {
  /// The signer first, the anchor last; at least one. A signer that is itself the anchor stands alone.
  let certificates: [Certificate]
  /// Each certificate with the next one.
  let links: [Link]

  /// - Parameter anchorHasSigned: the result of the search for the anchor. The signature is not checked again.
  init(_ certificates: [Certificate], anchorHasSigned: Bool = false) {
    self.certificates = certificates
    links = zip(certificates, certificates.dropFirst()).enumerated().map { index, pair in
      Link(
        certificate: pair.0, issuer: pair.1,
        knownSignature: index == certificates.count - 2 ? anchorHasSigned : nil)
    }
  }

  /// The certificates between signer and anchor, from the signer upwards.
  var intermediates: ArraySlice<Certificate> { certificates.dropFirst().dropLast() }

  /// All certificates above the signer, the anchor last.
  var authorities: [Authority] {
    certificates.dropFirst().enumerated().map { below, certificate in
      Authority(certificate: certificate, intermediatesBelow: below, isAnchor: below == certificates.count - 2)
    }
  }

  /// Whether the algorithms allow all signatures to be checked, the one that the signer makes included.
  var isVerifiable: Bool {
    links.allSatisfy { $0.certificate.isVerifiable(by: $0.issuer) } && certificates[0].publicKey != nil
  }

  /// A certificate, and the one that should have certified it.
  struct Link {
    let certificate: Certificate
    let issuer: Certificate
    fileprivate let knownSignature: Bool?

    var isNamed: Bool { certificate.chainsByName(to: issuer) }

    /// Whether the issuer's key has signed the certificate. True if the algorithm is not supported, which is a finding
    /// of its own.
    var isSigned: Bool {
      (knownSignature ?? certificate.isSigned(by: issuer)) || !certificate.isVerifiable(by: issuer)
    }
  }

  /// A certificate that should certify others.
  struct Authority {
    let certificate: Certificate
    let intermediatesBelow: Int
    let isAnchor: Bool

    var isCA: Bool { certificate.extensions.isCA }

    /// Only an anchor may lack the extension keyUsage: the configuration then says what it may do.
    var hasCertifyingKey: Bool { certificate.extensions.keyUsage.map { $0.contains(.keyCertSign) } ?? isAnchor }

    /// Whether its own path length constraint is kept.
    var allowsLength: Bool { certificate.extensions.pathLength.map { intermediatesBelow <= $0 } ?? true }
  }

  /// Finds the anchor that a path ends in: the one whose key signed its last certificate. If there is none, finds one
  /// whose name and key identifier fit, so that the checks can say what is wrong.
  ///
  /// - Parameter rank: of several anchors, the one of the lowest rank is used.
  static func anchor<Candidate>(
    of last: Certificate, among candidates: [Candidate], certificate: (Candidate) -> Certificate,
    rank: (Candidate) -> Int = { _ in 0 }
  ) -> (anchor: Candidate, hasSigned: Bool)? {
    // An anchor that is in the chain is no link to a further anchor.
    let named =
      candidates
      .filter { last.chainsByName(to: certificate($0)) && certificate($0).der != last.der }
      .sorted { rank($0) < rank($1) }
    if let signing = named.first(where: { last.isSigned(by: certificate($0)) }) { return (signing, true) }
    return named.first.map { ($0, false) }
  }
}
