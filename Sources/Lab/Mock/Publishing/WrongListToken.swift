import Base
import CBOR
import Cryptography

/// A token around a list that is wrong in one way, the same way for status lists and identifier lists.
struct WrongListToken: MockDeclared {
  let declaration: MockDeclaration
  let change: MockChange<ListTokenDraft>

  init(_ name: String, _ summary: String, _ change: @escaping MockChange<ListTokenDraft>) {
    declaration = MockDeclaration(name, summary, cases: "R06", codes: [.statusListInvalid])
    self.change = change
  }

  func statusList() -> MockStatusList { MockStatusList(named("status"), change) }

  func identifierList() -> MockIdentifierList { MockIdentifierList(named("identifiers"), change) }

  private func named(_ kind: String) -> MockDeclaration {
    var declaration = declaration
    declaration.name = "\(kind)-\(name)"
    return declaration
  }
}

extension ListTokenDraft {
  static let wrongTokens: [WrongListToken] = claims + structures + headers + signers

  private static let claims = [
    WrongListToken("other-subject", "The list is about another address.") {
      $0.claims[Label.subject] = "https://status.mdoc-mock.invalid/other"
    },
    WrongListToken("without-subject", "The list does not say what it is about.") { $0.claims[Label.subject] = nil },
    WrongListToken("expired", "The list expires now.") {
      $0.claims[Label.expires] = .integer($0.now.secondsSince1970)
    },
    WrongListToken("without-expiry", "The list does not expire.") { $0.claims[Label.expires] = nil },
    WrongListToken("future", "The list was issued in an hour.") {
      $0.claims[Label.issuedAt] = .integer(($0.now + Seconds.hour).secondsSince1970)
    },
    WrongListToken("without-date", "The list does not say when it was issued.") { $0.claims[Label.issuedAt] = nil },
    WrongListToken("not-before", "The list counts in an hour.") {
      $0.claims[Label.notBefore] = .integer(($0.now + Seconds.hour).secondsSince1970)
    },
    WrongListToken("ttl-zero", "The list lives for no time.") { $0.claims[Label.timeToLive] = 0 },
  ]

  private static let structures = [
    WrongListToken("bad-signature", "The signature is damaged.") {
      $0.changeParts = { parts in
        guard case .bytes(var signature) = parts[3] else { return }
        signature[signature.count - 1] ^= 1
        parts[3] = .bytes(signature)
      }
    },
    WrongListToken("unsigned", "The signature is empty.") { $0.changeParts = { $0[3] = .bytes([]) } },
    WrongListToken("payload-changed", "The payload was changed after it was signed.") {
      $0.changeParts = { parts in
        guard case .bytes(let payload) = parts[2] else { return }
        parts[2] = .bytes(payload + [0])
      }
    },
    WrongListToken("detached", "The payload is not there.") { $0.changeParts = { $0[2] = .null } },
    WrongListToken("cwt-tag", "The tag of CBOR Web Tokens stands around it.") {
      $0.wrap = { .tagged(61, .tagged(18, $0)) }
    },
    WrongListToken("untagged", "The structure has no tag.") { $0.wrap = { $0 } },
    WrongListToken("claims-no-map", "What is signed is an array.") { $0.payload = [] },
  ]

  private static let headers = [
    WrongListToken("wrong-type", "The type is that of any CBOR Web Token.") {
      $0.protected[Label.type] = "application/cwt"
    },
    WrongListToken("without-type", "There is no type.") { $0.protected[Label.type] = nil },
    WrongListToken("type-unprotected", "The type is not signed.") {
      $0.unprotected[Label.type] = $0.protected[Label.type]
      $0.protected[Label.type] = nil
    },
    WrongListToken("other-mechanism", "The type is that of the other kind of list.") {
      let isStatusList = $0.mechanism == "status_list"
      $0.protected[Label.type] = isStatusList ? "application/identifierlist+cwt" : "application/statuslist+cwt"
    },
    WrongListToken("algorithm-rs256", "The header names RS256, which no verifier here takes.") { $0.algorithm = -257 },
    WrongListToken("algorithm-other-curve", "The header names the algorithm of another curve than the key's.") {
      $0.algorithm = -35
    },
    WrongListToken("critical-header", "A header that nobody knows is critical.") {
      $0.protected[2] = ["unknown"]
      $0.protected["unknown"] = 1
    },
    WrongListToken("without-chain", "The signer's certificate is missing.") { $0.carriesChain = false },
    WrongListToken("chain-unprotected", "The signer's certificate is not in the protected header.") {
      $0.unprotected[Label.x5chain] = try $0.signer.x5chain()
    },
  ]

  private static let signers = [
    WrongListToken("other-root", "The signer is under a root that nobody knows.") {
      try $0.signUnderOwnRoot()
      $0.signer.further = [try $0.ownRoot()]
    },
    WrongListToken("other-anchor", "The signer is under another trusted root than the document's.") {
      $0.signer = try MockSigner(
        .statusLists, authority: $0.authority, under: $0.authority.certificateIssuer(.pathLengthOne), at: $0.now)
    },
    WrongListToken("other-key", "Another key than the signer's has signed.") {
      $0.signer.key = try $0.authority.seed.key("other status list signer", on: $0.authority.issuerCurve)
    },
    WrongListToken("certificate-other", "The document names a certificate, under which the signer is not.") {
      $0.reference["certificate"] = .bytes(try $0.ownRoot())
    },
    WrongListToken("certificate-malformed", "The certificate that the document names is none.") {
      $0.reference["certificate"] = .bytes([0x30, 0x00])
    },
    WrongListToken("signer-reader", "The signer's certificate is a reader's.") {
      $0.signer.certificate[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage([
        MockSigner.readerKeyUsage
      ])
    },
    WrongListToken("signer-expired", "The signer's certificate has expired.") {
      $0.signer.certificate.notAfter = $0.now - 1
    },
    WrongListToken("signer-key-usage", "The signer's certificate may sign certificates alone.") {
      $0.signer.certificate[oid: CertificateExtension.keyUsageOID] = .keyUsage(.keyCertSign)
    },
    WrongListToken("signer-is-root", "The list is signed by the root itself.") {
      let issuer = try $0.authority.certificateIssuer(.good)
      $0.signer.key = issuer.key
      $0.signer.certificate = try $0.authority.anchorTemplate(.good, at: $0.now)
    },
  ]

  /// Puts the signer under a root of its own, which is for status lists only.
  mutating func signUnderOwnRoot() throws {
    signer = try MockSigner(.statusLists, authority: authority, under: ownIssuer(), at: now)
  }

  func ownRoot() throws -> [UInt8] {
    let issuer = try ownIssuer()
    return try authority.rootTemplate(issuer, from: now - 30 * Seconds.day, until: now + 3_000 * Seconds.day)
      .signed(by: issuer.key)
  }

  private func ownIssuer() throws -> CertificateIssuer {
    CertificateIssuer(
      name: authority.name("mdoc Mock Status CA"),
      key: try authority.seed.key("status list root", on: authority.issuerCurve))
  }
}
