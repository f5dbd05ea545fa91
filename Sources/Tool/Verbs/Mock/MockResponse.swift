import Base
import CBOR
import Cryptography
import Mdoc
import Mock
import Sessions

/// `mdoc mock response`: makes a DeviceResponse of a proximity session, after a QR code or NFC.
enum MockResponse {
  static let command = Command(
    "response", "make a DeviceResponse over a session transcript",
    options: [.transcript, .newTranscript, .handover, .authentication, .readerKey, .out] + MockCommand.provingOptions,
    notes: [
      "The transcript is either read (--transcript) or made and written (--new-transcript). Same arguments, same bytes. "
        + "A MAC needs the reader's key on the device key's curve."
    ],
    examples: [
      .init(
        "A good response with its transcript",
        "mdoc mock response --new-transcript transcript.cbor --out response.cbor"),
      .init(
        "Authenticated by MAC after NFC",
        """
        mdoc mock response --new-transcript t.cbor --handover nfc \\
          --authentication mac --reader-key reader.pem --out response.cbor
        """),
      .init(
        "A wrong one over a transcript that is there",
        "mdoc mock response --transcript t.cbor --variant element-changed --out bad"),
      .init(
        "A zero-knowledge proof of an age",
        """
        mdoc mock response --new-transcript t.cbor --out r.cbor --circuits circuits \\
          --request '{"documents":[{"doc_type":"org.iso.18013.5.1.mDL",
            "age_over":[21],"zk":"required"}]}'
        """),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let variant = try MockCommand.variant(arguments)
    let wallet = try MockCommand.wallet(arguments)
    let request = try MockRequestFile.request(arguments, for: .web, variant: variant, to: wallet)
    let now = try arguments.time(.at)
    let readerKey = try arguments.value(.readerKey).map { path throws(Failure) in try KeyFile.publicKey(path) }
    let transcript = try transcript(arguments, readerKey: readerKey)
    let authentication = try authentication(arguments, readerKey: readerKey, wallet: wallet)
    let answer = try MockCommand.made {
      try wallet.answer(
        request, transcript: transcript, authentication: authentication, variant: variant, at: now)
    }
    try MockOutput.save(
      answer, of: wallet, isSigned: !authentication.isMAC, made: now, transcript: arguments.value(.newTranscript),
      arguments, console)
    return .done
  }

  private static func authentication(
    _ arguments: ParsedArguments, readerKey: PublicKey?, wallet: MockWallet
  ) throws(Failure) -> MockDeviceAuthentication {
    guard arguments.value(.authentication) == "mac" else {
      try MockCommand.requireSigning(wallet)
      return .signature
    }
    let device = wallet.deviceCurve
    guard let readerKey else { throw .usage("--authentication mac needs the reader's key: --reader-key FILE") }
    guard readerKey.curve == device else {
      throw .usage("the reader's key is on \(readerKey.curve.rawValue), the device's on \(device.rawValue)")
    }
    return .mac(readerKey: readerKey)
  }

  private static func transcript(_ arguments: ParsedArguments, readerKey: PublicKey?) throws(Failure) -> [UInt8] {
    switch (arguments.value(.transcript), arguments.has(.newTranscript)) {
    case (let path?, false): return try TranscriptFile.transcript(path).encoded
    case (nil, true): return try newTranscript(arguments, readerKey: readerKey)
    default: throw .usage("either --transcript FILE or --new-transcript FILE is required")
    }
  }

  /// A transcript with the mock's device engagement (ISO/IEC 18013-5:2021, 8.2.1.1) and the given reader key. Without a
  /// reader key, it has one that is the same for every mock.
  private static func newTranscript(_ arguments: ParsedArguments, readerKey: PublicKey?) throws(Failure) -> [UInt8] {
    try MockCommand.made {
      let readerBytes = MockSessionTranscript.readerKeyBytes(of: try readerKey ?? key("reader"))
      let engagement = MockSessionTranscript.deviceEngagement(with: try key("engagement"))
      return arguments.value(.handover) == "nfc"
        ? MockSessionTranscript.nfc(
          deviceEngagement: engagement, readerKey: readerBytes, handoverSelect: Array("mock select".utf8),
          handoverRequest: nil)
        : MockSessionTranscript.qr(deviceEngagement: engagement, readerKey: readerBytes)
    }
  }
}

/// A session key that everybody can compute.
private func key(_ purpose: String) throws -> PublicKey {
  let scalar = HashAlgorithm.sha256.hash(Array("mdoc mock \(purpose)".utf8))
  return try PrivateKey(curve: .p256, scalar: scalar).publicKey
}

extension Option {
  fileprivate static let transcript = Option("transcript", "FILE", "the SessionTranscript to answer over")
  fileprivate static let newTranscript = Option(
    "new-transcript", "FILE", "make a transcript, always the same one, and write it there")
  fileprivate static let handover = Option(
    "handover", "KIND", "how a new transcript's devices met", fallback: "qr", choices: ["qr", "nfc"])
  fileprivate static let authentication = Option(
    "authentication", "KIND", "how the device proves its key", fallback: "signature", choices: ["signature", "mac"])
}

/// The request that a mock wallet answers: a given one in the HTTP API's shape, otherwise the request that shows the
/// variant best.
enum MockRequestFile {
  static func request(
    _ arguments: ParsedArguments, for family: ProtocolFamily, over protocolName: String? = nil, variant: MockVariant,
    to wallet: MockWallet
  ) throws(Failure) -> MockRequest {
    let circuits = family == .inApp ? nil : try CircuitFiles.library(arguments.value(.circuits))
    guard
      let request = try RequestFile.request(
        arguments.value(.mockRequest), for: family, over: protocolName, circuits: circuits)
    else {
      // A wallet with another person's documents alone is asked for one of those.
      let isAnswerable = variant.request.documents.contains { asked in
        wallet.documents.contains { $0.docType == asked.docType }
      }
      return isAnswerable ? variant.request : wallet.documents.first?.wholeRequest ?? variant.request
    }
    return MockRequest(
      documents: request.documents.map { document in
        var asked = MockRequest.Document(
          docType: document.docType,
          elements: document.elements.map { ($0.element.namespace, $0.element.identifier) },
          ageOver: document.ageThresholds)
        asked.circuits = document.proofs?.circuits ?? []
        asked.requiresProof = document.proofs?.isRequired ?? false
        return asked
      })
  }
}
