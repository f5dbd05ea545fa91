import Base
import Cryptography
import PKIX
import Presentation
import Sessions
import Trust

// MARK: Apple's merchants

extension ConfigurationFile {
  /// `apple` of a relying party: one merchant, or several with different names.
  var merchants: Shape<[AppleConfiguration]> {
    let one = merchant
    let several = one.list(atLeast: 1)
    return .reading(.anyOf([one.schema, several.schema])) { json, pointer, faults in
      guard json.array != nil else { return one.read(json, pointer, &faults).map { [$0] } }
      let merchants = several.read(json, pointer, &faults)
      faults.noteDuplicates(merchants?.map(\.merchantID) ?? [], at: pointer, "/merchant_id") { _ in
        "is a duplicate merchant; list all keys of a merchant together"
      }
      return merchants
    }
  }

  private var merchant: Shape<AppleConfiguration> {
    .form(
      "apple", Entry("merchant_id", Shape.nonEmptyString(), "The value in the app's entitlements."),
      Entry("team_id", Shape.nonEmptyString(), "The value in the app's entitlements."),
      Entry("encryption_keys", merchantKey.list(atLeast: 1), "P-256 private keys in PEM, current and former.")
    ) { place, merchant, team, keys in
      let owner = AppleMerchant(merchantID: merchant, teamID: team)
      let certificates = keys.enumerated().compactMap { index, key in
        key.certificate.flatMap { file in
          certificate(
            file, of: owner, key.key, at: "\(place.pointer)/encryption_keys/\(index)/certificate", &place.faults)
        }
      }
      return AppleConfiguration(
        merchantID: merchant, teamID: team, encryptionKeys: keys.map(\.key), certificates: certificates)
    }
  }

  /// A certificate in PEM, or in DER as Apple issues it.
  private func certificate(
    _ file: Named, of merchant: AppleMerchant, _ key: PrivateKey, at pointer: String, _ faults: inout Faults
  ) -> MerchantCertificate? {
    let blocks = String(validating: file.bytes, as: UTF8.self).flatMap { PEM.certificates(in: $0) } ?? []
    guard let certificate = try? Certificate(der: blocks.first ?? file.bytes) else {
      faults.add(pointer, "\(file.path) contains no certificate in PEM or DER")
      return nil
    }
    return faults.attempt(pointer) { () throws(MerchantCertificateError) in
      try MerchantCertificate(certificate, of: merchant, key: key.publicKey)
    } text: {
      "\(file.path) \($0.text(merchant))"
    }
  }
}

extension MerchantCertificateError {
  fileprivate func text(_ merchant: AppleMerchant) -> String {
    switch self {
    case .otherKey: "does not match the private key beside it"
    case .otherMerchant(let name):
      "is \(name.map { "merchant \"\($0)\"'s" } ?? "no merchant's") by its UID, not \"\(merchant.merchantID)\"'s"
    case .otherTeam(let name):
      "is \(name.map { "team \"\($0)\"'s" } ?? "no team's") by its OU, not \"\(merchant.teamID)\"'s"
    }
  }
}

// MARK: Readers

extension ConfigurationFile {
  /// `readers` of a relying party: the keys that sign its requests, and the certificates for these keys.
  var readers: Shape<[ReaderIdentity]> {
    reader.list().parsed { readers, pointer, faults in
      for (index, reader) in readers.enumerated() {
        let member = "\(pointer)/\(index)/google_wallet_metadata"
        let sent = readers[..<index].lazy.compactMap(\.googleWalletMetadata).first
        guard let metadata = reader.googleWalletMetadata else { continue }
        if let sent, metadata != sent {
          faults.warn("\(member) differs from an earlier reader's. This reader does not sign multi-signed requests")
        }
        if index > 0, sent == nil {
          faults.warn(
            "\(member) is sent only in multi-signed requests, since the first reader signs all other requests")
        }
      }
      return readers
    }
  }

  private var reader: Shape<ReaderIdentity> {
    .form(
      "reader", Entry("key", signingKey, "Private key in PEM."),
      Entry("certificates", chain, "Certificate chain in PEM, leaf first."),
      Entry("client_id", Self.clientIdentifiers, or: "x509_hash", "The form of its name in requests."),
      .ifAny(
        "google_wallet_metadata", Self.googleWalletMetadata,
        "`gw_rp_metadata_bytes` as received from Google or a registrar, for signed requests over the Digital Credentials API."
      )
    ) { place, key, chain, identifier, metadata in
      do throws(ReaderIdentityError) {
        let reader = try ReaderIdentity(
          key: key, certificates: chain.certificates, clientIdentifier: identifier, googleWalletMetadata: metadata)
        for objection in objections(to: reader) { place.faults.warn("\(chain.path): \(objection)") }
        return reader
      } catch {
        let (member, detail) = error.text
        place.add(member, detail)
        return nil
      }
    }
  }

  private func objections(to reader: ReaderIdentity) -> [String] {
    let oid = GoogleWalletMetadata.extensionOID
    let metadata = reader.googleWalletMetadata
    let all = [
      reader.leaf.isSelfSigned
        ? "the certificate is self-signed, which HAIP 1.0, 5 forbids; let an authority certify it" : nil,
      reader.key.curve != .p256
        ? "the key is on \(reader.key.curve.rawValue); by HAIP 1.0, wallets may support only ES256 (P-256), and so may "
          + "Google Wallet: use a P-256 key" : nil,
      metadata == nil && reader.leaf.extensions.oids.contains(oid)
        ? "the certificate names metadata for Google Wallet (\(oid)); set google_wallet_metadata to the string that "
          + "came with it, or Google Wallet may refuse requests" : nil,
      metadata != nil && metadata?.isNamed(by: reader.leaf) == nil
        ? "the certificate has no extension \(oid) that names google_wallet_metadata; a registrar's certificates need "
          + "it, so ask its issuer" : nil,
    ]
    let profile = reader.profile(at: now).filter { [.failed, .warning].contains($0.outcome) }
    return all.compactMap(\.self) + profile.map { $0.code.rawValue + ($0.detail.map { ": \($0)" } ?? "") }
  }

  /// The certificate chain without the anchor. Wallets trust only their own copy of the anchor (ISO/IEC 18013-5:2021,
  /// 9.1.4.4; HAIP 1.0, 5).
  private var chain: Shape<(certificates: [Certificate], path: String)> {
    file.parsed { file, pointer, faults in
      let path = file.path
      let text = String(validating: file.bytes, as: UTF8.self)
      guard let blocks = text.flatMap({ PEM.certificates(in: $0) }), !blocks.isEmpty else {
        faults.add(pointer, "\(path) has no certificates in PEM")
        return nil
      }
      var certificates: [Certificate] = []
      for block in blocks {
        let certificate = faults.attempt(pointer) { () throws(CertificateError) in
          try Certificate(der: block)
        } text: {
          "\(path): certificate \(certificates.count + 1) \($0.detail)"
        }
        guard let certificate else { return nil }
        certificates.append(certificate)
      }
      if let last = certificates.last, certificates.count > 1, last.isSelfSigned {
        certificates.removeLast()
        faults.warn("\(path): the trust anchor at the end, \(last.subject.text), is not sent to wallets")
      }
      // Anyone can sign with the keys of test certificates. Such certificates prove nothing.
      if let origin = certificates.lazy.compactMap(\.testOrigin).first {
        faults.add(pointer, "\(path) contains a test certificate: \(origin); use one whose private key is secret")
        return nil
      }
      return (certificates, path)
    }
  }

  private static var clientIdentifiers: Shape<ReaderIdentity.ClientIdentifier> {
    Shape.nonEmptyString(like: "^(x509_hash|x509_san_dns:.+)$").parsed(
      "must be x509_hash, or x509_san_dns: and a dNSName of the certificate"
    ) { text in
      if text == "x509_hash" { return .certificateHash }
      let name = text.hasPrefix("x509_san_dns:") ? text.dropFirst("x509_san_dns:".count) : ""
      return name.isEmpty ? nil : .dnsName(String(name))
    }
  }

  private static var googleWalletMetadata: Shape<GoogleWalletMetadata> {
    Shape.nonEmptyString(like: "^[A-Za-z0-9_-]+$").parsed { text, pointer, faults in
      faults.attempt(pointer) { () throws(GoogleWalletMetadataError) in
        try GoogleWalletMetadata(text)
      } text: {
        "\($0.detail); copy gw_rp_metadata_bytes as you received it"
      }
    }
  }
}

extension ReaderIdentityError {
  fileprivate var text: (member: String, detail: String) {
    switch self {
    case .noCertificate: ("certificates", "has no certificate")
    case .keyMismatch: ("key", "is not the key of the first certificate, the leaf")
    case .brokenChain: ("certificates", "must be the leaf first, each certificate signed by the next")
    case .googleWalletMetadataMismatch:
      (
        "google_wallet_metadata",
        "differs from the certificate's: its extension \(GoogleWalletMetadata.extensionOID) must hold the SHA-256 of "
          + "these bytes; configure certificate and string of one registration"
      )
    case .dnsNameMissing: ("client_id", "names no dNSName of the first certificate, the leaf")
    }
  }
}

// MARK: Registration certificates

/// A registration certificate that wallets can read. All other errors in the certificate are only warnings, since only
/// its registrar can correct them.
struct ConfiguredRegistration: Sendable {
  let path: String
  private(set) var certificate: RegistrationCertificate
  /// The failed check if none of the registrars signed the certificate; otherwise nil.
  private let stranger: Check?

  init(_ certificate: RegistrationCertificate, path: String, registrars: SignerPath.Anchors, at now: Timestamp) {
    let signed = SignerPath.validate(
      chain: certificate.chain, anchors: registrars, at: now, role: .trustedEntityListSigner)
    // No profile applies to registrars' certificates. Only the path is checked.
    stranger = signed.checks.first { $0.code == .listSignerUntrusted && $0.outcome == .failed }
    self.path = path
    self.certificate = certificate
    if stranger == nil { self.certificate.registrarPath = signed.certificates }
  }

  /// Warns of each fault, except expiry, that causes a wallet to warn (ARF, topic 44). A reader's certificate
  /// identifies the relying party or its intermediary.
  func warn(of readers: [ReaderIdentity], at now: Timestamp, _ faults: inout Faults) {
    let isReaders =
      !readers.isEmpty
      && readers.allSatisfy { reader in
        let name = reader.leaf.subject.organizationIdentifier
        return [certificate.subject, certificate.intermediary].contains { id in
          id.flatMap { name?.hasSameBytes(as: $0) } ?? false
        }
      }
    let isAhead = certificate.issuedAt.map { $0 > now + Limits.clockSkew } ?? false
    let all: [(isSo: Bool, text: String)] = [
      (isAhead, "was issued in the future"),
      (certificate.status == nil, "names no status list"),
      (!isReaders, "is for another party: every reader's organizationIdentifier must be sub or intermediary.sub"),
      (
        !certificate.registersAnything,
        "registers no data in the format mso_mdoc, so every request would be refused; use another certificate"
      ),
      (!certificate.isServiceProvider, "lacks the entitlement Service_Provider"),
      (stranger != nil, "is not signed by one of `registrars`: \(stranger?.detail ?? "")"),
      (certificate.compactJWS == nil, "is a CWT. OpenID4VP requests cannot contain it and are sent without it"),
    ]
    for (_, text) in all.filter(\.isSo) { faults.warn("\(path): the registration certificate \(text)") }
  }
}

extension ConfigurationFile {
  /// `registration_certificates` of a relying party: one for each intended use.
  var registrations: Shape<[ConfiguredRegistration]> {
    registration.list().parsed { all, pointer, faults in
      for (index, one) in all.enumerated() where all.count > 1 {
        let id = one.certificate.intendedUseID
        if id == nil || all[..<index].contains(where: { $0.certificate.intendedUseID == id }) {
          faults.add(
            "\(pointer)/\(index)", "\(one.path) needs its own intended_use_id, since there are several certificates")
        }
      }
      return all
    }
  }

  private var registration: Shape<ConfiguredRegistration> {
    file.parsed { file, pointer, faults in
      let isText = file.bytes.first == UInt8(ascii: "e")
      let certificate = faults.attempt(pointer) { () throws(RegistrationCertificateError) in
        try RegistrationCertificate(parsing: isText ? Array(file.bytes.withoutLineEnd) : file.bytes)
      } text: {
        "\(file.path) \($0.detail)"
      }
      return certificate.map { ConfiguredRegistration($0, path: file.path, registrars: registrars, at: now) }
    }
  }

  var registrarEntry: Entry<SignerPath.Anchors> {
    Entry(
      "registrars",
      Shape.nonEmptyString().list().parsed { names, pointer, faults in
        anchors(names, at: pointer, &faults).map {
          .init(configured: $0.map(\.certificate), allowsTestCertificates: false)
        }
      }, or: [],
      "Certificates of the issuers of registration certificates. Other issuers cause warnings.")
  }
}
