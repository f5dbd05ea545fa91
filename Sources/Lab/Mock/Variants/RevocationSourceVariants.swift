import Base
import CBOR

// Addresses of lists in documents and certificates, and whether a verifier may ask there.

extension MockRevocationCase {
  /// Addresses that a verifier may not ask, although a good list is there, and unusual addresses that it may ask (row
  /// R09).
  static let sources: [MockRevocationCase] =
    refusedAddresses.flatMap { address in
      var found = [refused(address, "status", .statusList(at: address.uri))]
      if address.isForEveryList {
        found += [
          refused(address, "identifiers", .identifierList(at: address.uri)),
          refused(address, "crl", .crl(at: address.uri), keepsCRLsToHTTPS: address.isGoodForCRLs),
        ]
      }
      return found
    } + refusedCRLAddresses.map { refused($0, "crl", .crl(at: $0.uri)) } + namedAddresses + otherPoints + plainHTTP

  private struct Address {
    let name: String
    let what: String
    let uri: String
    var isLive = false
    var isForEveryList = false
    /// Whether a revocation list may be at the address, unless the anchor's settings forbid it.
    var isGoodForCRLs = false
  }

  private static let refusedAddresses = [
    Address(
      name: "http", what: "is plain HTTP", uri: "http://lists.mdoc-mock.invalid/1", isForEveryList: true,
      isGoodForCRLs: true),
    Address(name: "file", what: "is a file", uri: "file:///srv/lists/1"),
    Address(name: "ldap", what: "is a directory's", uri: "ldap://lists.mdoc-mock.invalid/1", isForEveryList: true),
    Address(name: "private", what: "is a private network's", uri: "https://10.0.0.1/1", isForEveryList: true),
    Address(name: "private-ipv6", what: "is a private network's", uri: "https://[fd00::1]/1"),
    Address(name: "mapped", what: "is a private one as IPv6", uri: "https://[::ffff:192.168.0.1]/1"),
    Address(name: "metadata", what: "is the one of a cloud's metadata", uri: "https://169.254.169.254/latest/"),
    Address(
      name: "loopback", what: "is this machine's", uri: "https://127.0.0.1/1", isLive: true, isForEveryList: true),
    Address(name: "loopback-ipv6", what: "is this machine's", uri: "https://[::1]/1", isLive: true),
    Address(name: "localhost", what: "is this machine's name", uri: "https://localhost/1", isLive: true),
    Address(name: "number", what: "is a number in an odd form", uri: "https://2130706433/1"),
    Address(name: "user", what: "has a user", uri: "https://user:word@lists.mdoc-mock.invalid/1"),
    Address(
      name: "port", what: "names a port", uri: "https://lists.mdoc-mock.invalid:8443/1", isLive: true,
      isForEveryList: true, isGoodForCRLs: true),
  ]

  /// Addresses that are refused even for a revocation list, for which more addresses are allowed than for other lists.
  private static let refusedCRLAddresses = [
    Address(name: "http-private", what: "is a private network's over plain HTTP", uri: "http://10.0.0.1/1"),
    Address(
      name: "http-loopback", what: "is this machine's, at a port of its own", uri: "http://127.0.0.1:8080/1",
      isLive: true),
    Address(
      name: "port-of-mail", what: "names another protocol's port", uri: "http://lists.mdoc-mock.invalid:25/1",
      isLive: true),
  ]

  /// Addresses as some states' authorities use them. They are allowed, since a certificate of the path names them and
  /// the list is signed.
  private static let namedAddresses = [
    ("http", "plain HTTP", "http://lists.mdoc-mock.invalid/1"),
    ("port", "HTTPS at a port of its own", "https://lists.mdoc-mock.invalid:5443/1"),
    ("http-port", "plain HTTP at a port of its own", "http://lists.mdoc-mock.invalid:8080/1"),
  ].map { name, what, uri in
    MockRevocationCase(
      MockVariant(
        "crl-uri-\(name)-named", "The signer's certificate names a revocation list at \(what).", cases: "R09",
        Place.crl(at: uri).mutation)
    ) { try Place.crl(at: uri).publications($0, $1) }
  }

  private enum Place {
    case statusList(at: String), identifierList(at: String), crl(at: String)

    var mutation: MockMutation {
      switch self {
      case .statusList(let uri): .status(.good, at: uri)
      case .identifierList(let uri): .identifiers(.good, at: uri)
      case .crl(let uri): .setup { $0.signer.setDistributionPoint(.crlDistributionPoint(uri: uri)) }
      }
    }

    func publications(_ authority: MockAuthority, _ now: Timestamp) throws -> [MockPublication] {
      switch self {
      case .statusList(let uri):
        try [
          MockRevocationCase.crl(by: authority, at: now),
          MockRevocationCase.statusList(by: authority, at: now, address: uri),
        ]
      case .identifierList(let uri):
        try [
          MockRevocationCase.crl(by: authority, at: now),
          MockRevocationCase.identifierList(by: authority, at: now, address: uri),
        ]
      case .crl(let uri): try [MockRevocationCase.crl(by: authority, at: now, address: uri)]
      }
    }
  }

  private static func refused(
    _ address: Address, _ list: String, _ place: Place, keepsCRLsToHTTPS: Bool = false
  ) -> MockRevocationCase {
    let name = ["status": "status list", "identifiers": "identifier list", "crl": "revocation list"][list] ?? list
    return MockRevocationCase(
      MockVariant(
        "\(list)-uri-\(address.name)",
        "The \(name)'s address \(address.what)\(keepsCRLsToHTTPS ? ", which the anchor's settings refuse" : "").",
        cases: "R09",
        codes: [.revocationSourceNotAllowed], place.mutation),
      keepsCRLsToHTTPS: keepsCRLsToHTTPS, needsLiveRules: address.isLive
    ) { try place.publications($0, $1) }
  }

  private static let plainHTTP: [MockRevocationCase] = {
    let uri = "http://lists.mdoc-mock.invalid/1"
    let places: [(String, Place)] = [
      ("status", .statusList(at: uri)), ("identifiers", .identifierList(at: uri)), ("crl", .crl(at: uri)),
    ]
    return places.map { list, place in
      MockRevocationCase(
        MockVariant(
          "\(list)-uri-http-allowed", "The list comes over plain HTTP, which the anchor's settings allow.",
          cases: "R09", place.mutation),
        allowsPlainHTTP: true
      ) { try place.publications($0, $1) }
    }
  }()

  /// Distribution points that have other forms than a single address.
  private static let otherPoints: [MockRevocationCase] = {
    let dNSName: MockMutation = .setup {
      $0.signer.setDistributionPoint(.crlDistributionPoint(.host("lists.mdoc-mock.invalid")))
    }
    let named = MockRevocationCase(
      MockVariant(
        "crl-dns-name", "The distribution point is a host's name in place of an address.", cases: "R09",
        codes: [.revocationSourceNotAllowed], warnings: [.profileRevocationSource], dNSName)
    ) { try [crl(by: $0, at: $1)] }
    let malformed = MockRevocationCase(
      MockVariant(
        "crl-points-malformed", "The distribution points, which are not critical, can't be read.",
        codes: [.revocationSourceNotAllowed], warnings: [.profileRevocationSource],
        .setup {
          $0.signer.setDistributionPoint(
            CertificateExtension(
              oid: CertificateExtension.crlDistributionPointsOID, isCritical: false, value: DER.octetString([0x01])))
        })
    ) { try [crl(by: $0, at: $1)] }
    return [
      named, named.under(.allowUndetermined), named.under(.off), malformed, malformed.under(.allowUndetermined),
      malformed.under(.off),
      MockRevocationCase(
        MockVariant(
          "crl-dns-name-beside-address", "The distribution point has an address, and a host's name before it.",
          warnings: [.profileRevocationSource],
          .setup {
            $0.signer.setDistributionPoint(
              .crlDistributionPoint(.host("lists.mdoc-mock.invalid"), .address($0.authority.addresses.crl)))
          })
      ) { try [crl(by: $0, at: $1)] },
      MockRevocationCase(
        MockVariant(
          "crl-second-address", "The list is at the second of two addresses; the first publisher is down.",
          .setup {
            $0.signer.setDistributionPoint(
              .crlDistributionPoint(
                .address("https://lists.mdoc-mock.invalid/1"), .address($0.authority.addresses.crl)))
          })
      ) {
        try [
          MockPublication(address: "https://lists.mdoc-mock.invalid/1", fault: .unavailable), crl(by: $0, at: $1),
        ]
      },
    ]
  }()
}

extension MockSigner {
  mutating func setDistributionPoint(_ point: CertificateExtension?) {
    certificate[oid: CertificateExtension.crlDistributionPointsOID] = point
  }
}
