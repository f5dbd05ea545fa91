import Base
import PKIX
import Presentation
import Sessions
import Trust

/// Reads `registrars`, and `registration_certificates` of a relying party: files, one for each intended use.
///
/// A certificate that wallets cannot read is refused. What they may object to is a warning: only registrars issue.
struct ConfiguredRegistrations {
  let file: ConfigurationFile
  let registrars: SignerPath.Anchors
  let now: Timestamp

  init(_ root: Schema.Object, file: ConfigurationFile, now: Timestamp) throws(Schema.Fault) {
    let paths = try root.texts("registrars").map(file.resolve)
    for path in paths { file.requireProtection(of: path, at: "/registrars") }
    do throws(TrustLoadError) {
      let anchors = try TrustAnchorLoader(defaultDocTypes: nil).load(paths)
      registrars = .init(configured: anchors.map(\.certificate), allowsTestCertificates: false)
    } catch {
      throw root.fault("registrars", error.description)
    }
    self.file = file
    self.now = now
  }

  /// - Parameter readers: whose certificates name the relying party, or its intermediary.
  func all(
    of party: Schema.Object, readers: [ReaderIdentity], _ warnings: inout [String]
  ) throws(Schema.Fault) -> [RegistrationCertificate] {
    var found: [RegistrationCertificate] = []
    let names = try party.texts("registration_certificates")
    for (index, name) in names.enumerated() {
      let member = "registration_certificates/\(index)"
      let path = file.resolve(name)
      let bytes = try file.read(name, at: "\(party.pointer)/\(member)")
      let isText = bytes.first == UInt8(ascii: "e")
      var certificate: RegistrationCertificate
      do throws(RegistrationCertificateError) {
        certificate = try RegistrationCertificate(parsing: isText ? Array(bytes.withoutLineEnd) : bytes)
      } catch {
        throw party.fault(member, "\(path) \(error.detail)")
      }
      guard names.count == 1 || certificate.intendedUseID != nil,
        !found.contains(where: { $0.intendedUseID == certificate.intendedUseID })
      else { throw party.fault(member, "\(path) needs an intended_use_id of its own, since there are several") }
      let signed = SignerPath.validate(
        chain: certificate.chain, anchors: registrars, at: now, role: .trustedEntityListSigner)
      // Of a registrar's certificate no profile is known here: its path alone counts.
      let stranger = signed.checks.first { $0.code == .listSignerUntrusted && $0.outcome == .failed }
      if stranger == nil { certificate.registrarPath = signed.certificates }
      warnings += objections(to: certificate, stranger, readers).map { "\(path): the registration certificate \($0)" }
      found.append(certificate)
    }
    return found
  }

  /// Lists what a wallet may warn of (ARF, topic 44). `PartyCertificates` warns of the end.
  private func objections(
    to certificate: RegistrationCertificate, _ stranger: Check?, _ readers: [ReaderIdentity]
  ) -> [String] {
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
      (!isReaders, "is for another party: neither sub nor intermediary.sub is every reader's organizationIdentifier"),
      (!certificate.registersAnything, "registers nothing in the format mso_mdoc: every request would be refused"),
      (!certificate.isServiceProvider, "is without the entitlement Service_Provider"),
      (stranger != nil, "is signed by none of registrars: \(stranger?.detail ?? "")"),
      (certificate.compactJWS == nil, "is a CWT: requests of OpenID4VP go without it"),
    ]
    return all.filter(\.isSo).map(\.text)
  }
}
