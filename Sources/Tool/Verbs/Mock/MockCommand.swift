import Base
import Cryptography
import Mdoc
import Mock
import PKIX
import Presentation
import TestMode
import Trust

/// `mdoc mock`: an issuing authority, a document signer and a wallet, with correct and wrong responses.
enum MockCommand {
  static let command = Command(
    "mock", "make responses, right or wrong, and the anchors to verify them with",
    verbs: [
      MockVariants.command, MockApple.command, MockResponse.command, MockWeb.command, MockAnchors.command,
      MockLists.command, MockPersonVerb.command, MockPublish.command,
    ])

  /// The options for the issuer and the holder, shared by all verbs that make a response.
  static let walletOptions: [Option] = [
    .variant, .mockRequest, .person, .lists, .seed, .issuerCurve, .issuerKey, .issuerChain, .deviceCurve, .at, .json,
  ]

  /// The options of a wallet that may send a zero-knowledge proof.
  static let provingOptions = walletOptions + [.circuits]

  /// The mock authority that the options specify.
  /// - Parameters:
  ///   - seed: the seed if no option gives one.
  ///   - lists: the address of the lists if no option gives one.
  static func authority(
    _ arguments: Arguments, seed: [UInt8]? = nil, lists: String? = nil
  ) throws(Failure) -> MockAuthority {
    let seed = try arguments.hex(.seed, length: 1...1_024) ?? seed ?? Array("mdoc mock".utf8)
    let curve = try curve(.issuerCurve, arguments)
    let base = (arguments.value(.lists) ?? lists).map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    var authority = try made {
      try MockAuthority(seed: seed, issuerCurve: curve, addresses: MockAddresses(base: base))
    }
    authority.givenSigner = try givenSigner(arguments)
    return authority
  }

  /// A document signer of another test authority.
  private static func givenSigner(
    _ arguments: Arguments
  ) throws(Failure) -> (key: PrivateKey, chain: [[UInt8]], notBefore: Timestamp)? {
    guard arguments.has(.issuerKey) || arguments.has(.issuerChain) else { return nil }
    guard let path = arguments.value(.issuerKey), arguments.has(.issuerChain) else {
      throw .usage("give --issuer-key and --issuer-chain together")
    }
    let chain = try FoundCertificate.certificates(in: arguments.values(.issuerChain))
    guard let leaf = chain.first, let certified = leaf.publicKey else {
      throw .unreadable("--issuer-chain begins with a certificate whose key is on none of mdoc's curves")
    }
    let key = try KeyFile.privateKey(path, on: certified.curve, for: .signing)
    guard key.publicKey.encoded == certified.encoded else {
      throw .unreadable("key \(path): is not the key of the first certificate of --issuer-chain")
    }
    return (key, chain.map { Array($0.der) }, leaf.validity.lowerBound)
  }

  /// - Parameter authority: the documents' authority; nil for the authority that the options specify.
  static func wallet(_ arguments: Arguments, of authority: MockAuthority? = nil) throws(Failure) -> MockWallet {
    let authority = if let authority { authority } else { try self.authority(arguments) }
    let deviceCurve = try curve(.deviceCurve, arguments)
    let prover = try arguments.circuitLibrary().map(MockProver.init)
    let documents =
      try arguments.value(.person).map { path throws(Failure) in
        let json = try FileAccess.read(path, purpose: "person")
        return try readable("person \(path): ") { try MockDocumentData.list(json: json).map(\.withDates) }
      } ?? MockPerson.allDocuments
    return MockWallet(authority: authority, documents: documents, deviceCurve: deviceCurve, prover: prover)
  }

  /// Throws if the device key cannot sign. A key on a Montgomery curve supports only key agreement, for a MAC.
  static func requireSigning(_ wallet: MockWallet) throws(Failure) {
    guard wallet.deviceCurve.family != .montgomery else {
      throw .usage("\(wallet.deviceCurve.rawValue) keys cannot sign; use mdoc mock response --authentication mac")
    }
  }

  static func variant(_ arguments: Arguments) throws(Failure) -> MockVariant {
    let name = try arguments.required(.variant)
    if let variant = MockVariant.named(name) ?? MockPublishedList.named(name)?.variant { return variant }
    let names = MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name)
    throw .unknown("variant", name, among: names, or: " (mdoc mock variants lists them)")
  }

  /// Returns the body's value. A `MockError` is the fault of the caller's options. Any other error is this program's
  /// fault.
  static func made<Value>(_ body: () throws -> Value) throws(Failure) -> Value {
    do {
      return try body()
    } catch let error as MockError {
      throw .usage(error.description)
    } catch {
      throw .internal("the response could not be made: \(error)")
    }
  }

  private static func curve(_ option: Option, _ arguments: Arguments) throws(Failure) -> Curve {
    let name = try arguments.required(option)
    guard let curve = Curve(rawValue: name) else { throw .internal("--\(option.name) took \(name)") }
    return curve
  }
}

extension Option {
  static let variant = Option(
    "variant", "NAME", "the variant of the response, one of mdoc mock variants", fallback: MockVariant.good.name)
  static let person = Option(
    "person", "FILE", "documents as JSON, in the form of mdoc mock person (default: Ada Morgan of Utah)")
  static let mockRequest = Option(
    "request", "JSON",
    "the request, as the HTTP API takes it: JSON or a file (default: the most suitable for the variant)")
  static let issuerCurve = Option(
    "issuer-curve", "CURVE", "the curve of the authority's and the signer's keys", fallback: Curve.p256.rawValue,
    choices: Curve.allCases.filter { $0.family != .montgomery }.map(\.rawValue))
  static let issuerKey = Option(
    "issuer-key", "FILE", "the key of another authority's document signer, with --issuer-chain")
  static let issuerChain = Option(
    "issuer-chain", "PEM", "the signer's certificate, then those above it, without the root", occurrence: .repeatable)
  static let deviceCurve = Option(
    "device-curve", "CURVE", "the device key's curve; X25519 and X448 authenticate by MAC only",
    fallback: Curve.p256.rawValue, choices: Curve.allCases.map(\.rawValue))
}

enum MockAnchors {
  static let command = Command(
    "anchors", "write the mock authority's trust anchors with their settings",
    options: [.mockFolder, .seed, .issuerCurve, .at, .json],
    notes: ["The anchors fit responses of the same --seed and --issuer-curve, and change once in ten years of --at."],
    examples: [
      .init("Write anchors for mock responses", "mdoc mock anchors --out anchors"),
      .init("Use the anchors", "mdoc verify apple … --trust anchors"),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    let authority = try MockCommand.authority(arguments)
    let now = try arguments.time(.at)
    let anchors = try MockCommand.made { try authority.walletAnchors(at: now) }
    let folder = try arguments.required(.mockFolder)
    try FileAccess.makeFolder(folder)
    for anchor in anchors {
      let stem = "\(folder)/\(anchor.name)"
      try FileAccess.write(Array(PEM.encode(certificate: anchor.certificate).utf8), to: stem + ".pem")
      try FileAccess.write(settings(of: anchor).fileContent, to: stem + ".json")
    }
    arguments.print([
      .members(["folder": folder, "anchors": anchors.map(\.name)]),
      .line("\(folder): \(anchors.count) anchors with their settings"),
    ])
  }

  /// The settings that the trust loader reads from the file beside the certificate.
  private static func settings(of anchor: MockAnchor) -> JSON {
    .of([
      "doc_types": anchor.docTypes, "ekus": anchor.extendedKeyUsages, "max_path_length": anchor.maxPathLength,
      "tier": "test", "jwt_status_lists": true,
    ])
  }
}

/// Writes a response, and prints a verifier's verdict on it.
enum MockOutput {
  /// - Parameter isSigned: false for a MAC, which only the reader can verify.
  static func save(
    _ content: [UInt8], _ responses: [[UInt8]], over transcript: [UInt8], _ variant: MockVariant, of wallet: MockWallet,
    isSigned: Bool = true, made now: Timestamp, transcriptAt path: String? = nil, _ arguments: Arguments
  ) throws(Failure) {
    // A variant states its codes. A signed, correct response is verified instead. The mock signs any content of a
    // person's file, even content that every verifier rejects.
    let isVerified =
      variant.name == MockVariant.good.name && isSigned && wallet.prover == nil && wallet.authority.givenSigner == nil
    let codes = try isVerified ? codes(of: responses, over: transcript, from: wallet.authority, at: now) : variant.codes
    let file = try arguments.required(.out)
    try FileAccess.write(content, to: file)
    let verdict = codes.isEmpty ? "verifies" : "is refused with \(codes.map(\.rawValue).joined(separator: ", "))"
    let clock = variant.needsFixedClock ? ", at \(now) exactly" : ""
    let report: [Report] =
      [.member("file", file)] + (path.map { [.member("transcript", $0)] } ?? []) + [
        .members(["bytes": content.count, "variant": variant.name, "codes": codes.map(\.rawValue), "made_at": now]),
        .line("\(file): \(content.count) bytes, \(variant.name): \(verdict)\(clock)"),
      ]
    arguments.print(report)
  }

  /// The codes that a verifier finds in the responses if it trusts the mock authority.
  private static func codes(
    of responses: [[UInt8]], over transcript: [UInt8], from authority: MockAuthority, at now: Timestamp
  ) throws(Failure) -> [Code] {
    do {
      let trust = try TrustStore(
        anchors: authority.walletAnchors(at: now).map(TestServer.anchor), allowsTestCertificates: true)
      let verifier = Proximity(verifier: MdocVerifier(trust: trust))
      let transcript = try SessionTranscript(encoded: transcript)
      return responses.flatMap { response in
        verifier.authenticate(response, transcript: transcript, readerKey: nil, request: nil, at: now)
          .conclude().report.reasons.map(\.code)
      }
    } catch {
      throw .internal("the mock's own response could not be verified: \(error)")
    }
  }
}
