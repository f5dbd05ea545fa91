import Base
import Cryptography
import PKIX
import Presentation

/// Reads `readers` of a relying party: the keys that sign its requests, and the certificates for these keys.
///
/// ```json
/// { "readers": [ { "key": "keys/reader.pem", "certificates": "keys/reader-chain.pem", "client_id": "x509_hash" } ] }
/// ```
/// `certificates` has the leaf first. `client_id` is `x509_hash`, by default, or `x509_san_dns:` and a dNSName of the
/// leaf. `google_wallet_metadata` is what Google Wallet shows of the relying party.
struct ConfiguredReaders {
  private static let dnsPrefix = "x509_san_dns:"

  let secrets: ConfiguredSecrets
  let now: Timestamp

  func all(of party: Schema.Object, _ warnings: inout [String]) throws(Schema.Fault) -> [ReaderIdentity] {
    var readers: [ReaderIdentity] = []
    for entry in try party.objects("readers") {
      guard let reader = entry.attempt(try reader(entry, &warnings)) else { continue }
      let sent = readers.lazy.compactMap(\.googleWalletMetadata).first
      if let sent, let metadata = reader.googleWalletMetadata, metadata != sent {
        warnings.append(
          "\(entry.pointer)/google_wallet_metadata is another than that of a reader before it: multi-signed requests are "
            + "not signed by this reader")
      }
      if sent == nil, let first = readers.first, first.googleWalletMetadata == nil, reader.googleWalletMetadata != nil {
        warnings.append(
          "\(entry.pointer)/google_wallet_metadata goes out in multi-signed requests only: the first reader signs the others"
        )
      }
      readers.append(reader)
    }
    return readers
  }

  private func reader(_ entry: Schema.Object, _ warnings: inout [String]) throws(Schema.Fault) -> ReaderIdentity {
    let key = try secrets.signingKey(try entry.required("key"), at: entry.pointer + "/key")
    let certificates = try chain(entry, &warnings)
    let name = try identifier(entry)
    let metadata = try entry.ifAny("google_wallet_metadata") { name throws(Schema.Fault) in
      let text = try entry.text(name)
      do throws(GoogleWalletMetadata.Malformed) {
        return try GoogleWalletMetadata(text)
      } catch {
        throw entry.fault(name, "\(error.detail); copy gw_rp_metadata_bytes as you were sent it")
      }
    }
    let reader: ReaderIdentity
    do throws(ReaderIdentity.Problem) {
      reader = try ReaderIdentity(
        key: key, certificates: certificates, clientIdentifier: name, googleWalletMetadata: metadata)
    } catch {
      throw entry.fault(error)
    }
    let path = secrets.file.resolve(try entry.text("certificates"))
    if reader.leaf.isSelfSigned {
      warnings.append("\(path): the certificate is self-signed, which HAIP 1.0, 5 forbids; let an authority certify it")
    }
    if key.curve != .p256 {
      warnings.append(
        "\(path): the key is on \(key.curve.rawValue); HAIP 1.0 has wallets know ES256, which is P-256's, and "
          + "so does Google Wallet")
    }
    if metadata == nil, reader.leaf.extensions.oids.contains(GoogleWalletMetadata.extensionOID) {
      warnings.append(
        "\(path): the certificate names metadata for Google Wallet (\(GoogleWalletMetadata.extensionOID)); set "
          + "google_wallet_metadata to the string that came with it, or Google Wallet may refuse")
    } else if metadata?.isNamed(by: reader.leaf) == nil, metadata != nil {
      warnings.append(
        "\(path): the certificate has no extension \(GoogleWalletMetadata.extensionOID) that names google_wallet_metadata; "
          + "a registrar's certificates need it, so ask who issued this one")
    }
    warnings += reader.profile(at: now).filter { [.failed, .warning].contains($0.outcome) }.map { check in
      "\(path): \(check.code.rawValue)" + (check.detail.map { ": \($0)" } ?? "")
    }
    return reader
  }

  /// The leaf and the certificates between it and the anchor. The anchor itself must not be sent: wallets trust their
  /// own copy (ISO/IEC 18013-5:2021, 9.1.4.4; HAIP 1.0, 5).
  private func chain(
    _ entry: Schema.Object, _ warnings: inout [String]
  ) throws(Schema.Fault) -> [Certificate] {
    let name = try entry.text("certificates")
    let path = secrets.file.resolve(name)
    let bytes = try secrets.file.read(name, at: entry.pointer + "/certificates")
    guard let text = String(validating: bytes, as: UTF8.self), let blocks = PEM.certificates(in: text), !blocks.isEmpty
    else { throw entry.fault("certificates", "\(path) has no certificates in PEM") }
    var certificates: [Certificate] = []
    for (index, block) in blocks.enumerated() {
      do throws(CertificateError) {
        certificates.append(try Certificate(der: block))
      } catch {
        throw entry.fault("certificates", "\(path): certificate \(index + 1) \(error.detail)")
      }
    }
    if let last = certificates.last, certificates.count > 1, last.isSelfSigned {
      certificates.removeLast()
      warnings.append("\(path): the trust anchor at the end, \(last.subject.text), is left out of what wallets get")
    }
    // Everybody can sign with these keys, so their certificates prove nothing.
    if let origin = certificates.lazy.compactMap(\.testOrigin).first {
      throw entry.fault("certificates", "\(path) has a certificate for tests: \(origin)")
    }
    return certificates
  }

  private func identifier(_ entry: Schema.Object) throws(Schema.Fault) -> ReaderIdentity.ClientIdentifier {
    let text = try entry.text("client_id")
    if text == "x509_hash" { return .certificateHash }
    guard text.hasPrefix(Self.dnsPrefix), text.count > Self.dnsPrefix.count else {
      throw entry.fault("client_id", "must be x509_hash, or x509_san_dns: and a dNSName of the certificate")
    }
    return .dnsName(String(text.dropFirst(Self.dnsPrefix.count)))
  }
}

extension Schema.Object {
  fileprivate func fault(_ problem: ReaderIdentity.Problem) -> Schema.Fault {
    switch problem {
    case .noCertificate: fault("certificates", "has no certificate")
    case .keyMismatch: fault("key", "is not the key of the first certificate, the leaf")
    case .brokenChain: fault("certificates", "must be the leaf first, each certificate signed by the next")
    case .googleWalletMetadataMismatch:
      fault(
        "google_wallet_metadata",
        "is not what the certificate names: its extension \(GoogleWalletMetadata.extensionOID) must hold the SHA-256 of "
          + "these bytes; configure certificate and string of one registration")
    case .dnsNameMissing: fault("client_id", "names no dNSName of the first certificate, the leaf")
    }
  }
}
