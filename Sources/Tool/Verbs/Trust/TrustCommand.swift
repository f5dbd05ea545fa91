import Base
import PKIX
import Trust

/// `mdoc trust`: shows trust anchors and what they are trusted for.
enum TrustCommand {
  static let command = Command(
    "trust", "look at trust anchors, lists of them and certificates",
    verbs: [list, TrustShow.command, TrustImport.command, TrustExplain.command, TrustCheck.command])

  private static let list = Command(
    "list", "list the trust anchors of files and folders",
    options: [.trust, .at, .json],
    examples: [
      .init("A folder of anchors with their settings", "mdoc trust list --trust anchors/"),
      .init("Will they still be valid then?", "mdoc trust list --trust iaca.pem --at 2030-01-01"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    let store = try TrustFiles.store(arguments.values(.trust))
    if arguments.has(.json) {
      console.print([
        "trust_snapshot": .string(store.snapshot), "anchors": .array(store.anchors.map { json($0, at: now) }),
      ])
    } else {
      let style = Style(isColored: console.isColored)
      let blocks = store.anchors.map { text($0, at: now, console.width, style) }
      console.print((blocks + ["Trust snapshot \(store.snapshot)"]).joined(separator: "\n\n"))
    }
    return .done
  }

  private static func json(_ anchor: TrustAnchor, at now: Timestamp) -> JSON {
    let certificate = anchor.certificate
    return [
      "subject": .string(certificate.subject.text), "sha256": .string(Hex.encode(certificate.sha256)),
      "doc_types": anchor.docTypes.map { .array($0.map { .string($0) }) } ?? .null,
      "not_before": .integer(certificate.validity.lowerBound.secondsSince1970),
      "expires_at": .integer(certificate.validity.upperBound.secondsSince1970),
      "valid": .bool(certificate.validity.contains(now)), "source": .string(anchor.source),
      "crl_addresses": .string(anchor.crlAddresses.rawValue),
      "jwt_status_lists": .bool(anchor.allowsJWTStatusLists),
      "unusable_crls": .array(anchor.unusableCRLs.map(\.json)),
      "tier": .string(anchor.tier.rawValue), "mock": .bool(certificate.isMock),
      "published_key": PublishedKeys.place(of: certificate).map { .string($0) } ?? .null,
    ]
  }

  private static func testNote(_ certificate: Certificate) -> String {
    certificate.testOrigin.map { ", and live mode never trusts it: \($0)" } ?? ""
  }

  private static func text(_ anchor: TrustAnchor, at now: Timestamp, _ width: Int, _ style: Style) -> String {
    let certificate = anchor.certificate
    let validity = certificate.validity
    let state = validity.contains(now) ? "" : now > validity.upperBound ? "  EXPIRED" : "  NOT YET VALID"
    let rows =
      [
        ("SHA-256", Hex.encode(certificate.sha256)),
        ("Document types", anchor.docTypes?.joined(separator: ", ") ?? "any (not configured)"),
        ("Valid", "\(validity.lowerBound) to \(validity.upperBound)\(state)"),
        ("Tier", anchor.tier.rawValue + testNote(certificate)),
        ("Source", anchor.source),
      ] + anchor.unusableCRLs.map { ("Revocation list", $0.text) }
    return style(Printable.line(certificate.subject.text), .bold) + "\n"
      + Wrapping.columns(rows.map { ($0.0, Printable.line($0.1)) }, width: width)
  }
}

extension UnusableCRL {
  /// As text for people: which revocation list will not be asked for, and why.
  var text: String {
    "will not be asked for (\(Code.revocationSourceNotAllowed.rawValue)): " + (address.map { "\($0): " } ?? "") + reason
  }

  var json: JSON { ["address": address.map { .string($0) } ?? .null, "reason": .string(reason)] }
}

/// A certificate found in one of the given files. It may be malformed.
struct FoundCertificate: Sendable {
  /// The file, and the certificate's place in it.
  let source: String
  let content: Result<Certificate, CertificateError>

  /// The certificate; nil if it is malformed.
  var certificate: Certificate? { try? content.get() }

  /// Why it could not be read; empty if it could.
  var fault: String { if case .failure(let error) = content { error.detail } else { "" } }

  /// All certificates of a file, in their order.
  static func inFile(_ path: String) throws(Failure) -> [FoundCertificate] {
    let bytes = try FileAccess.read(path, purpose: "certificate")
    // 0x30 begins every DER certificate, and the text "0 s:CN=…" that some tools print above PEM blocks.
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
}

extension DistinguishedName {
  /// The name as text for people. It comes from the certificate and may contain anything, so print it with `Printable`.
  var text: String {
    let parts = [
      commonName.map { "CN=\($0)" }, organization.map { "O=\($0)" }, stateOrProvince.map { "ST=\($0)" },
      country.map { "C=\($0)" },
    ].compactMap { $0 }
    return parts.isEmpty ? "(no name)" : parts.joined(separator: ", ")
  }
}
