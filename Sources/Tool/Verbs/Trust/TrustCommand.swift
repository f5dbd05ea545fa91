import Base
import PKIX
import Trust

enum TrustCommand {
  static let command = Command(
    "trust", "show and check trust anchors, lists of them and certificates",
    verbs: [list, TrustShow.command, TrustImport.command, TrustExplain.command, TrustCheck.command])

  private static let list = Command(
    "list", "list the trust anchors of files and folders", options: [.trust, .at, .json],
    examples: [
      .init("List a folder of anchors with their settings", "mdoc trust list --trust anchors/"),
      .init("Show validity at a given time", "mdoc trust list --trust iaca.pem --at 2030-01-01"),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    let now = try arguments.time(.at)
    let store = try arguments.trustStore()
    let report: [Report] = [
      .member("trust_snapshot", store.snapshot), .list("anchors", store.anchors.map { self.report($0, at: now) }),
      .note("Trust snapshot \(store.snapshot)"),
    ]
    arguments.print(report)
  }

  private static func report(_ anchor: TrustAnchor, at now: Timestamp) -> [Report] {
    let certificate = anchor.certificate
    let validity = certificate.validity
    let testNote = certificate.testOrigin.map { ", and live mode never trusts it: \($0)" } ?? ""
    return [
      .line(.bold(certificate.subject.text)), .member("subject", certificate.subject.text),
      .row("SHA-256", certificate.fingerprint, as: "sha256"),
      .row(
        "Document types", anchor.docTypes?.joined(separator: ", ") ?? "any (not configured)", as: "doc_types",
        anchor.docTypes), .row("Valid", certificate.validityText(at: now), as: "not_before", validity.lowerBound),
      .members(["expires_at": validity.upperBound, "valid": validity.contains(now)]),
      .row("Tier", anchor.tier.rawValue + testNote), .row("Source", anchor.source, as: "source"),
      .members([
        "crl_addresses": anchor.crlAddresses.rawValue, "jwt_status_lists": anchor.allowsJWTStatusLists,
        "unusable_crls": anchor.unusableCRLs, "tier": anchor.tier.rawValue, "mock": certificate.isMock,
        "published_key": PublishedKeys.origin(of: certificate),
      ]),
    ] + anchor.unusableCRLs.map { .row("Revocation list", $0.text) }
  }
}

extension UnusableCRL: MemberValue {
  /// A message about a revocation list that is never fetched, with the reason.
  var text: String {
    "will not be fetched (\(Code.revocationSourceNotAllowed.rawValue)): " + (address.map { "\($0): " } ?? "") + reason
  }

  var json: JSON { .of(["address": address, "reason": reason]) }
}

/// A certificate in one of the given files. It may be malformed.
struct FoundCertificate: Sendable {
  /// The file, with the certificate's number if the file contains several.
  let source: String
  let content: Result<Certificate, CertificateError>

  /// The certificate; nil if it is malformed.
  var certificate: Certificate? { try? content.get() }

  /// All certificates of a file, in their order.
  static func inFile(_ path: String) throws(Failure) -> [FoundCertificate] {
    let bytes = try FileAccess.read(path, purpose: "certificate")
    // Every DER certificate begins with 0x30. So does the text "0 s:CN=…", which some tools print above PEM blocks.
    let text = String(decoding: bytes, as: UTF8.self)
    let isDER = bytes.starts(with: [0x30]) && !text.contains("-----BEGIN CERTIFICATE-----")
    let encodings = isDER ? [bytes] : PEM.certificates(in: text) ?? []
    guard !encodings.isEmpty else { throw .unreadable("certificate \(path): holds no certificate in PEM or DER") }
    return encodings.enumerated().map { index, der in
      FoundCertificate(
        source: encodings.count == 1 ? path : "\(path), certificate \(index + 1)",
        content: Result { () throws(CertificateError) in try Certificate(der: der) })
    }
  }

  /// All certificates of the files. Throws if one is malformed.
  static func certificates(in paths: [String]) throws(Failure) -> [Certificate] {
    var certificates: [Certificate] = []
    for path in paths {
      for found in try inFile(path) {
        do throws(CertificateError) {
          certificates.append(try found.content.get())
        } catch {
          throw .unreadable("certificate \(found.source): \(error.detail)")
        }
      }
    }
    return certificates
  }
}

extension Certificate: MemberValue {
  /// The certificate as JSON.
  var json: JSON {
    .of([
      "subject": subject.text, "sha256": fingerprint,
      "subject_key_identifier": extensions.subjectKeyIdentifier.map { Hex.encode($0) },
      "not_before": validity.lowerBound, "expires_at": validity.upperBound, "mock": isMock,
    ])
  }

  /// The certificate as text.
  func rows(at now: Timestamp) -> [(String, String)] {
    [("SHA-256", fingerprint), ("Valid", validityText(at: now))]
      + (extensions.subjectKeyIdentifier.map { [("Key identifier", Hex.encode($0))] } ?? [])
  }

  func validityText(at now: Timestamp? = nil) -> String {
    let text = "\(validity.lowerBound) to \(validity.upperBound)"
    guard let now, !validity.contains(now) else { return text }
    return text + (now > validity.upperBound ? "  EXPIRED" : "  NOT YET VALID")
  }
}

extension DistinguishedName {
  /// The display name. It comes from the certificate and may contain anything.
  var text: String {
    let parts = [
      commonName.map { "CN=\($0)" }, organization.map { "O=\($0)" }, stateOrProvince.map { "ST=\($0)" },
      country.map { "C=\($0)" },
    ].compactMap { $0 }
    return parts.isEmpty ? "(no name)" : parts.joined(separator: ", ")
  }
}
