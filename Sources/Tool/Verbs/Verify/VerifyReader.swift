import Base
import Mdoc
import PKIX
import Presentation

/// `mdoc verify reader`: verifies who signed a request, as a wallet would.
enum VerifyReader {
  static let command = Command(
    "reader", "verify who signed a request: reader authentication, or an OpenID4VP request object",
    options: [.root] + TranscriptOptions.session + [.origin, .encryptionInfo, .relaxProfile, .at, .strict, .json],
    operand: Operand(
      placeholder: "FILE",
      help:
        "a DeviceRequest (raw, hexadecimal or base64), a request object (a JWS), or JSON that holds one: an entry of a "
        + "session's requests"),
    notes: [
      "A DeviceRequest is signed over its session: give --transcript or its parts, or for the Digital Credentials API "
        + "--origin, with --encryption-info unless the file has it. A request object names its origins itself; they are "
        + "compared with --origin.",
      "What is asked is not judged, and nothing is fetched: not whether the reader's certificate is revoked.",
      "Exit status: 0 every part is signed by a reader below one of the roots, 1 not so, 64 usage, 65 one of your files "
        + "cannot be read.",
    ],
    examples: [
      .init(
        "A request in person, over its transcript",
        "mdoc verify reader request.cbor --transcript t.cbor --root reader-root.pem"),
      .init(
        "What a page passes to the browser, as the session has it",
        "mdoc verify reader request.json --origin https://shop.example --root root.pem"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let file = try RequestToVerify(at: arguments.operand ?? "")
    let isRelaxed = arguments.has(.relaxProfile)
    if isRelaxed, arguments.has(.strict) { throw .usage("--relax-profile does not go together with --strict") }
    let verifier = ReaderVerifier(
      roots: try roots(arguments), isStrict: arguments.has(.strict), relaxingProfile: isRelaxed)
    let now = try arguments.time(.at)
    let report: ReaderReport
    switch file.content {
    case .deviceRequest(let bytes):
      report = verifier.verify(deviceRequest: bytes, over: try transcript(arguments, file), at: now)
    case .requestObject(let text):
      if let option = TranscriptOptions.session.first(where: arguments.has) {
        throw .usage("--\(option.name) is of no use for a request object, which is signed by itself")
      }
      report = verifier.verify(requestObject: text, origin: arguments.value(.origin), at: now)
    }
    if arguments.has(.json) {
      console.print(report.json(at: now, isRelaxed: isRelaxed))
    } else {
      let checks = ChecksText(width: console.width, style: Style(isColored: console.isColored))
      console.print(text(report, at: now, isRelaxed, checks))
    }
    return report.isAuthenticated ? .done : .rejected
  }

  private static func roots(_ arguments: ParsedArguments) throws(Failure) -> [Certificate] {
    var roots: [Certificate] = []
    for path in arguments.values(.root) {
      for found in try FoundCertificate.inFile(path) {
        guard let certificate = found.certificate else {
          throw .unreadable("certificate \(found.source): is malformed")
        }
        roots.append(certificate)
      }
    }
    return roots
  }

  /// The transcript of ISO/IEC TS 18013-7, Annex C, if an origin is given; otherwise that of a proximity session.
  private static func transcript(_ arguments: ParsedArguments, _ file: RequestToVerify) throws(Failure)
    -> SessionTranscript
  {
    guard let origin = arguments.value(.origin) else { return try TranscriptOptions.transcript(arguments) }
    if let option = TranscriptOptions.session.first(where: arguments.has) {
      throw .usage("--\(option.name) does not go together with --origin")
    }
    guard let info = arguments.value(.encryptionInfo) ?? file.encryptionInfo else {
      throw .usage("--origin needs --encryption-info, the request's encryptionInfo")
    }
    return AnnexCChallenge.transcript(encryptionInfo: info, origin: origin)
  }

  // MARK: Output

  private static func text(
    _ report: ReaderReport, at now: Timestamp, _ isRelaxed: Bool, _ checks: ChecksText
  ) -> String {
    let verdict =
      report.isAuthenticated
      ? checks.style("AUTHENTICATED", .bold, .green) : checks.style("NOT AUTHENTICATED", .bold, .red)
    let note = isRelaxed ? ", by --relax-profile: whether the certificate is made for a reader only warns" : ""
    var blocks = [
      Wrapping.wrap("\(verdict) at \(now)\(note)", indent: 2, width: checks.width),
      checks.block("Checks of the request", report.checks),
    ]
    for signature in report.signatures {
      let reader = signature.certificates.first.map { ", by \(Printable.line($0.subject.text))" } ?? ""
      blocks.append(checks.block(signature.place + reader, signature.checks))
    }
    return blocks.joined(separator: "\n\n")
  }
}

/// A request in any of its common forms: DeviceRequest, request object (JWS), or the JSON of the Digital Credentials
/// API.
private struct RequestToVerify {
  enum Content {
    case deviceRequest([UInt8])
    case requestObject([UInt8])
  }

  let content: Content
  /// The `encryptionInfo` of the Digital Credentials API, if it came with the request; otherwise nil.
  var encryptionInfo: String?

  init(at path: String) throws(Failure) {
    let bytes = try FileAccess.read(path, purpose: "request")
    let text = bytes.filter { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    guard let json = try? JSON(parsing: bytes), json.object != nil else {
      let isJWS = text.starts(with: "ey".utf8) && text.count(where: { $0 == UInt8(ascii: ".") }) == 2
      content = isJWS ? .requestObject(text) : .deviceRequest(WireBytes(bytes).bytes)
      return
    }
    let data = json["data"] ?? json
    if let request = data["deviceRequest"]?.string {
      guard let decoded = Base64.decodeEither(request) else {
        throw .unreadable("request \(path): deviceRequest is not base64url")
      }
      content = .deviceRequest(decoded)
      encryptionInfo = data["encryptionInfo"]?.string
    } else if let object = data["request"] ?? data.ifSigned {
      content = .requestObject(object.string.map { Array($0.utf8) } ?? object.serialized())
    } else {
      throw .unreadable("request \(path): the JSON has neither deviceRequest nor a signed request")
    }
  }
}

extension JSON {
  /// The value itself if it is a JWS in the general serialization; otherwise nil.
  fileprivate var ifSigned: JSON? { self["signatures"] == nil ? Optional.none : self }
}

extension ReaderReport {
  fileprivate func json(at now: Timestamp, isRelaxed: Bool) -> JSON {
    [
      "authenticated": .bool(isAuthenticated), "profile_relaxed": .bool(isRelaxed), "kind": .string(kind.rawValue),
      "at": .integer(now.secondsSince1970),
      "checks": .array(checks.map(\.json)), "signatures": .array(signatures.map(\.json)),
    ]
  }
}

extension ReaderSignature {
  fileprivate var json: JSON {
    [
      "place": .string(place),
      "certificates": .array(
        certificates.map {
          ["subject": .string($0.subject.text), "sha256": .string($0.fingerprint)]
        }),
      "checks": .array(checks.map(\.json)),
    ]
  }
}

extension Option {
  fileprivate static let root = Option(
    "root", "PEM", "a certificate that the reader's must chain to, or be", occurrence: .requiredRepeatable)
  fileprivate static let relaxProfile = Option(
    flag: "relax-profile", "only warn of a certificate that is not made for readers, by its usages or CA flag")
  fileprivate static let origin = Option(
    "origin", "ORIGIN", "of the page that asks by the Digital Credentials API: https://shop.example")
  fileprivate static let encryptionInfo = Option(
    "encryption-info", "TEXT", "the request's encryptionInfo, base64url exactly as it was sent")
}
