import Base
import Mdoc
import PKIX
import Presentation

enum VerifyReader {
  static let command = Command(
    "reader", "verify who signed a request: reader authentication, or an OpenID4VP request object",
    options: [.root] + TranscriptOptions.session
      + [.pageOrigin, .encryptionInfo, .relaxProfile, .at, .strict] + VerifyCommand.output,
    operand: Operand(
      placeholder: "FILE",
      help:
        "a DeviceRequest (raw, hexadecimal or base64), a request object (a JWS), or JSON that holds one: an entry of a "
        + "session's requests"),
    notes: [
      "A DeviceRequest is signed over its session: give --transcript or its parts, or for the Digital Credentials API "
        + "--origin, with --encryption-info unless the file has it. A request object lists its origins, which are "
        + "compared with --origin.",
      "Only the signer is checked: not the requested elements, and not the certificate's revocation, which would need "
        + "the network.",
      "Exit status: 0 every part is signed by a reader below one of the roots, 1 a part is not, 64 usage, 65 a file "
        + "cannot be read.",
    ],
    examples: [
      .init(
        "Verify an in-person request with its session transcript",
        "mdoc verify reader request.cbor --transcript t.cbor --root reader-root.pem"),
      .init(
        "Verify a request that a page passes to the browser",
        "mdoc verify reader request.json --origin https://shop.example --root root.pem"),
    ], action: run)

  private static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    let file = try RequestToVerify(at: arguments.operand ?? "")
    let isRelaxed = arguments.has(.relaxProfile)
    if isRelaxed, arguments.has(.strict) { throw .usage("--relax-profile excludes --strict") }
    let verifier = ReaderVerifier(
      roots: try FoundCertificate.certificates(in: arguments.values(.root)), isStrict: arguments.has(.strict),
      relaxingProfile: isRelaxed)
    let now = try arguments.time(.at)
    let report: ReaderReport
    switch file.content {
    case .deviceRequest(let bytes):
      report = verifier.verify(deviceRequest: bytes, over: try transcript(arguments, file), at: now)
    case .requestObject(let text):
      if let option = TranscriptOptions.session.first(where: arguments.has) {
        throw .usage("--\(option.name) is not for a request object, which is signed by itself")
      }
      report = verifier.verify(requestObject: text, origin: arguments.value(.pageOrigin), at: now)
    case .parameters, .link:
      throw .unreadable("request \(arguments.operand ?? ""): it has neither deviceRequest nor a signed request")
    }
    try VerifyCommand.publish(
      output(report, at: now, isRelaxed: isRelaxed), kind: "Report of a request's signer",
      files: TranscriptOptions.files, arguments)
    return report.isAuthenticated ? .done : .rejected
  }

  /// The transcript of ISO/IEC TS 18013-7, Annex C, if an origin is given; otherwise a proximity session's transcript.
  private static func transcript(_ arguments: Arguments, _ file: RequestToVerify) throws(Failure) -> SessionTranscript {
    guard let origin = arguments.value(.pageOrigin) else { return try TranscriptOptions.transcript(arguments) }
    if let option = TranscriptOptions.session.first(where: arguments.has) {
      throw .usage("--\(option.name) excludes --origin")
    }
    guard let info = arguments.value(.encryptionInfo) ?? file.encryptionInfo else {
      throw .usage("--origin needs --encryption-info, the request's encryptionInfo")
    }
    return AnnexCChallenge.transcript(encryptionInfo: info, origin: origin)
  }

  // MARK: Output

  private static func output(_ report: ReaderReport, at now: Timestamp, isRelaxed: Bool) -> [Report] {
    let verdict: Span = report.isAuthenticated ? .good("AUTHENTICATED") : .bad("NOT AUTHENTICATED")
    let note = isRelaxed ? "--relax-profile: a certificate that is not for readers only causes a warning." : ""
    return [
      .verdict([verdict, " at \(now)"]), .text(note.isEmpty ? [] : ["\(note)"]),
      .members([
        "authenticated": report.isAuthenticated, "profile_relaxed": isRelaxed, "kind": report.kind.rawValue, "at": now,
      ]),
      .member("checks", report.checks), .checks("Checks of the request", report.checks), remedies(of: report.checks),
      .list("signatures", report.signatures.map(output)),
    ]
  }

  private static func remedies(of checks: [Check]) -> Report {
    .section(Report.remedies(of: checks.filter { $0.outcome == .failed }))
  }

  private static func output(_ signature: ReaderSignature) -> [Report] {
    let reader = signature.certificates.first.map { ", by \($0.subject.text)" } ?? ""
    return [
      .members([
        "place": signature.location,
        "certificates": signature.certificates.map { JSON.of(["subject": $0.subject.text, "sha256": $0.fingerprint]) },
      ]),
      .member("checks", signature.checks), .checks(signature.location + reader, signature.checks),
      remedies(of: signature.checks),
    ]
  }
}

/// A file with a request: a DeviceRequest, a request object (JWS), a link, or the JSON of the Digital Credentials API.
struct RequestToVerify {
  enum Content {
    case deviceRequest([UInt8])
    case requestObject([UInt8])
    /// An unsigned request.
    case parameters(JSON)
    case link(AuthorizationLink)
  }

  let content: Content
  /// The `encryptionInfo` and the protocol of the Digital Credentials API, if the file contains them.
  var encryptionInfo: String?
  private(set) var protocolName: String?

  init(at path: String) throws(Failure) {
    let bytes = try FileAccess.read(path, purpose: "request")
    let text = bytes.filter { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    guard let json = try? JSON(parsing: bytes), json.object != nil else {
      let isJWS = text.starts(with: "ey".utf8) && text.count(where: { $0 == UInt8(ascii: ".") }) == 2
      let link = String(validating: text, as: UTF8.self).flatMap { AuthorizationLink($0) }
      content = isJWS ? .requestObject(text) : link.map { .link($0) } ?? .deviceRequest(WireBytes(bytes).bytes)
      return
    }
    let data = json["data"] ?? json
    protocolName = json["protocol"]?.string
    if let request = data["deviceRequest"]?.string {
      guard let decoded = Base64.decodeEither(request) else {
        throw .unreadable("request \(path): deviceRequest must be base64url")
      }
      content = .deviceRequest(decoded)
      encryptionInfo = data["encryptionInfo"]?.string
    } else if let object = data["request"] ?? data.ifSigned {
      content = .requestObject(object.string.map { Array($0.utf8) } ?? object.serialized())
    } else if let link = data["authorization_request"]?.string.flatMap({ AuthorizationLink($0) }) {
      content = .link(link)
    } else if data["response_type"] != nil || data["response_mode"] != nil || data["dcql_query"] != nil {
      content = .parameters(data)
    } else {
      throw .unreadable("request \(path): the JSON has no request")
    }
  }
}

extension JSON {
  /// The value itself if it is a JWS in the general serialization; otherwise nil.
  fileprivate var ifSigned: JSON? { self["signatures"] == nil ? Optional.none : self }
}

extension Option {
  fileprivate static let root = Option(
    "root", "PEM", "the reader's certificate, or an authority that it chains to", occurrence: .requiredRepeatable)
  fileprivate static let relaxProfile = Option(
    flag: "relax-profile", "only warn if the certificate's usages or CA flag do not fit a reader")
  static let pageOrigin = Option(
    "origin", "ORIGIN", "the page's origin over the Digital Credentials API: https://shop.example")
  static let encryptionInfo = Option(
    "encryption-info", "TEXT", "the request's encryptionInfo, base64url exactly as it was sent")
}
