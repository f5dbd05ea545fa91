import Base
import Cryptography
import Mdoc
import Mock
import PKIX

/// `mdoc mock`: an issuing authority, a document signer and a wallet. The wallet answers rightly, or wrongly in any of
/// its named ways.
enum MockCommand {
  static let command = Command(
    "mock", "make answers, right or wrong, and the anchors to verify them with",
    verbs: [
      MockVariants.command, MockApple.command, MockResponse.command, MockWeb.command, MockAnchors.command,
      MockLists.command, MockPersonVerb.command, MockPublish.command, MockVectors.command,
    ])

  /// The options about the issuer and the holder, which all verbs that make an answer share.
  static let walletOptions: [Option] = [
    .variant, .mockRequest, .person, .lists, .seed, .issuerCurve, .deviceCurve, .at, .json,
  ]

  /// Those of a wallet that may answer with a zero-knowledge proof.
  static let provingOptions = walletOptions + [.circuits]

  static func authority(_ arguments: ParsedArguments) throws(Failure) -> MockAuthority {
    let seed = try arguments.hex(.seed, length: 1...1_024) ?? Array("mdoc mock".utf8)
    let curve = try curve(.issuerCurve, arguments)
    let base = arguments.value(.lists).map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    return try made {
      try MockAuthority(seed: seed, issuerCurve: curve, addresses: MockAddresses(base: base))
    }
  }

  static func wallet(_ arguments: ParsedArguments) throws(Failure) -> MockWallet {
    let authority = try authority(arguments)
    let deviceCurve = try curve(.deviceCurve, arguments)
    let prover = try CircuitFiles.library(arguments.value(.circuits)).map(MockProver.init)
    guard let path = arguments.value(.person) else {
      return MockWallet(
        authority: authority, documents: MockPerson.allDocuments, deviceCurve: deviceCurve, prover: prover)
    }
    let json = try FileAccess.read(path, purpose: "person")
    do {
      let documents = try MockDocumentData.list(json: json).map(\.withDates)
      return MockWallet(authority: authority, documents: documents, deviceCurve: deviceCurve, prover: prover)
    } catch {
      throw .unreadable("person \(path): \((error as? MockError)?.description ?? "is no document data")")
    }
  }

  /// Throws if the device key cannot sign. A key on a Montgomery curve can only agree on a MAC key.
  static func requireSigning(_ wallet: MockWallet) throws(Failure) {
    guard wallet.deviceCurve.family != .montgomery else {
      throw .usage("\(wallet.deviceCurve.rawValue) keys cannot sign: they need mock response --authentication mac")
    }
  }

  static func variant(_ arguments: ParsedArguments) throws(Failure) -> MockVariant {
    let name = try arguments.required(.variant)
    if let variant = MockVariant.named(name) ?? MockPublishedList.named(name)?.variant { return variant }
    let names = MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name)
    let nearest = Spelling.nearest(to: name, among: names).map { "; did you mean \($0)?" }
    throw .usage("there is no variant \"\(name)\"\(nearest ?? "") (mdoc mock variants lists them)")
  }

  /// Turns an error of the mock into a failure: a `MockError` comes from the caller's options, any other error is our
  /// own fault.
  static func made<Value>(_ body: () throws -> Value) throws(Failure) -> Value {
    do {
      return try body()
    } catch let error as MockError {
      throw .usage(error.description)
    } catch {
      throw .internal("the answer could not be made: \(error)")
    }
  }

  private static func curve(_ option: Option, _ arguments: ParsedArguments) throws(Failure) -> Curve {
    let name = try arguments.required(option)
    guard let curve = Curve(rawValue: name) else { throw .internal("--\(option.name) took \(name)") }
    return curve
  }
}

extension Option {
  static let variant = Option(
    "variant", "NAME", "the way of answering, one of mdoc mock variants", fallback: MockVariant.good.name)
  static let person = Option(
    "person", "FILE", "documents as JSON, in the form of mdoc mock person (default: Ada Morgan of Utah)")
  static let mockRequest = Option(
    "request", "JSON", "what is asked, as the HTTP API takes it: JSON or a file (default: what the variant shows best)")
  static let issuerCurve = Option(
    "issuer-curve", "CURVE", "the issuing authority's and the signer's", fallback: Curve.p256.rawValue,
    choices: Curve.allCases.filter { $0.family != .montgomery }.map(\.rawValue))
  static let deviceCurve = Option(
    "device-curve", "CURVE", "the device key's; X25519 and X448 authenticate by MAC only",
    fallback: Curve.p256.rawValue, choices: Curve.allCases.map(\.rawValue))
}

/// `mdoc mock anchors`: writes the trust anchors under which mock answers verify.
enum MockAnchors {
  static let command = Command(
    "anchors", "write the mock authority's trust anchors with their settings",
    options: [.folder, .seed, .issuerCurve, .at, .json],
    notes: ["They belong to answers of the same --seed and --issuer-curve, and change once in ten years of --at."],
    examples: [
      .init("Anchors for mock answers", "mdoc mock anchors --out anchors"),
      .init("And their use", "mdoc verify apple … --trust anchors"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let authority = try MockCommand.authority(arguments)
    let now = try arguments.time(.at)
    let anchors = try MockCommand.made { try authority.walletAnchors(at: now) }
    let folder = try arguments.required(.folder)
    try FileAccess.makeFolder(folder)
    for anchor in anchors {
      let stem = "\(folder)/\(anchor.name)"
      try FileAccess.write(Array(PEM.encode(certificate: anchor.certificate).utf8), to: stem + ".pem")
      try FileAccess.write(settings(of: anchor).serialized(pretty: true) + [0x0a], to: stem + ".json")
    }
    if arguments.has(.json) {
      console.print(["folder": .string(folder), "anchors": .array(anchors.map { .string($0.name) })])
    } else {
      console.print(Printable.line("\(folder): \(anchors.count) anchors with their settings"))
    }
    return .done
  }

  /// The settings that the trust loader reads beside the certificate.
  private static func settings(of anchor: MockAnchor) -> JSON {
    [
      "doc_types": .array(anchor.docTypes.map { .string($0) }),
      "ekus": .array(anchor.extendedKeyUsages.map { .string($0) }),
      "max_path_length": .integer(Int64(anchor.maxPathLength)), "tier": "test", "jwt_status_lists": true,
    ]
  }
}

extension Option {
  fileprivate static let folder = Option("out", "FOLDER", "a folder, made where it is missing", occurrence: .required)
}

/// Writes an answer, and prints what a verifier says about it.
enum MockOutput {
  static func save(
    _ answer: MockAnswer, of wallet: MockWallet, isSigned: Bool = true, made now: Timestamp, transcript: String? = nil,
    _ arguments: ParsedArguments, _ console: Console
  ) throws(Failure) {
    if let transcript { try FileAccess.write(answer.sessionTranscript, to: transcript) }
    let codes = try codes(
      [answer.deviceResponse], over: answer.sessionTranscript, answer.variant, of: wallet, isSigned: isSigned, at: now)
    try save(answer.bytes, answer.variant, codes, made: now, transcript: transcript, arguments, console)
  }

  static func save(
    _ answer: MockWebAnswer, as json: JSON, of wallet: MockWallet, isSigned: Bool, made now: Timestamp,
    _ arguments: ParsedArguments, _ console: Console
  ) throws(Failure) {
    let codes = try codes(
      answer.deviceResponses, over: answer.sessionTranscript, answer.variant, of: wallet, isSigned: isSigned, at: now)
    try save(json.serialized(pretty: true) + [0x0a], answer.variant, codes, made: now, arguments, console)
  }

  /// The codes that a wrong way of answering announces, or those that are found in an answer that should be right. Not
  /// looked for are those of a MAC, which only the reader can check, and of a proof.
  private static func codes(
    _ responses: [[UInt8]], over transcript: [UInt8], _ variant: MockVariant, of wallet: MockWallet, isSigned: Bool,
    at now: Timestamp
  ) throws(Failure) -> [Code] {
    guard variant.name == MockVariant.good.name, isSigned, wallet.prover == nil else { return variant.codes }
    return try MockVerdict.codes(of: responses, over: transcript, from: wallet.authority, at: now)
  }

  private static func save(
    _ bytes: [UInt8], _ variant: MockVariant, _ codes: [Code], made now: Timestamp, transcript: String? = nil,
    _ arguments: ParsedArguments, _ console: Console
  ) throws(Failure) {
    let path = try arguments.required(.out)
    try FileAccess.write(bytes, to: path)
    let codes = codes.map(\.rawValue)
    if arguments.has(.json) {
      console.print(
        .members([
          "file": .string(path), "transcript": transcript.map { .string($0) },
          "bytes": .integer(Int64(bytes.count)), "variant": .string(variant.name),
          "codes": .array(codes.map { .string($0) }), "made_at": .integer(now.secondsSince1970),
        ]))
    } else {
      let verdict = codes.isEmpty ? "verifies" : "is refused with \(codes.joined(separator: ", "))"
      let clock = variant.needsFixedClock ? ", at \(now) exactly" : ""
      console.print(Printable.line("\(path): \(bytes.count) bytes, \(variant.name): \(verdict)\(clock)"))
    }
  }
}
