import Base
import CBOR
import Cryptography
import Mdoc
import Mock
import Presentation
import Sessions

enum MockResponse {
  static let command = Command(
    "response", "make a DeviceResponse over a session transcript",
    options: [.transcript, .newTranscript, .handover, .authentication, .readerKey, .out] + MockCommand.provingOptions,
    notes: [
      "The transcript is either read (--transcript) or made and written (--new-transcript). Same arguments, same "
        + "bytes. A MAC needs the reader's key on the device key's curve."
    ],
    examples: [
      .init(
        "Make a good response with its transcript",
        "mdoc mock response --new-transcript transcript.cbor --out response.cbor"),
      .init(
        "Authenticate by MAC after NFC",
        """
        mdoc mock response --new-transcript t.cbor --handover nfc \\
          --authentication mac --reader-key reader.pem --out response.cbor
        """),
      .init(
        "Make a wrong response over a given transcript",
        "mdoc mock response --transcript t.cbor --variant element-changed --out bad"),
      .init(
        "Make a zero-knowledge proof of an age",
        """
        mdoc mock response --new-transcript t.cbor --out r.cbor --circuits circuits \\
          --request '{"documents":[{"doc_type":"org.iso.18013.5.1.mDL",
            "age_over":[21],"zk":"required"}]}'
        """),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    let variant = try MockCommand.variant(arguments)
    let wallet = try MockCommand.wallet(arguments)
    let request = try MockRequestFile.request(arguments, for: .web, variant: variant, to: wallet)
    let now = try arguments.time(.at)
    let readerKey = try arguments.value(.readerKey).map { path throws(Failure) in try KeyFile.publicKey(path) }
    let transcript = try transcript(arguments, readerKey: readerKey)
    let authentication = try authentication(arguments, readerKey: readerKey, wallet: wallet)
    let response = try MockCommand.made {
      try wallet.answer(request, transcript: transcript, authentication: authentication, variant: variant, at: now)
    }
    let path = arguments.value(.newTranscript)
    if let path { try FileAccess.write(response.sessionTranscript, to: path) }
    try MockOutput.save(
      response.bytes, [response.deviceResponse], over: response.sessionTranscript, response.variant, of: wallet,
      isSigned: !authentication.isMAC, made: now, transcriptAt: path, arguments)
  }

  private static func authentication(
    _ arguments: Arguments, readerKey: PublicKey?, wallet: MockWallet
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

  private static func transcript(_ arguments: Arguments, readerKey: PublicKey?) throws(Failure) -> [UInt8] {
    switch (arguments.value(.transcript), arguments.has(.newTranscript)) {
    case (let path?, false): return try SessionTranscript.inFile(path).encoded
    case (nil, true): return try newTranscript(arguments, readerKey: readerKey)
    default: throw .usage("either --transcript FILE or --new-transcript FILE is required")
    }
  }

  /// A transcript with the mock's device engagement (ISO/IEC 18013-5:2021, 8.2.1.1) and the given reader key, or the
  /// mock's reader key if none is given.
  private static func newTranscript(_ arguments: Arguments, readerKey: PublicKey?) throws(Failure) -> [UInt8] {
    try MockCommand.made {
      let readerBytes = MockSessionTranscript.readerKeyBytes(of: try readerKey ?? key("reader"))
      let engagement = MockSessionTranscript.deviceEngagement(with: try key("engagement"))
      guard arguments.value(.handover) == "nfc" else {
        return MockSessionTranscript.qr(deviceEngagement: engagement, readerKey: readerBytes)
      }
      return MockSessionTranscript.nfc(
        deviceEngagement: engagement, readerKey: readerBytes, handoverSelect: Array("mock select".utf8),
        handoverRequest: nil)
    }
  }
}

/// A session key that anybody can compute.
private func key(_ purpose: String) throws -> PublicKey {
  let scalar = HashAlgorithm.sha256.hash(Array("mdoc mock \(purpose)".utf8))
  return try PrivateKey(curve: .p256, scalar: scalar).publicKey
}

extension Option {
  fileprivate static let transcript = Option("transcript", "FILE", "the SessionTranscript to respond over")
  fileprivate static let newTranscript = Option(
    "new-transcript", "FILE", "make a transcript (always the same one), and write it to FILE")
  fileprivate static let handover = Option(
    "handover", "KIND", "the handover of a new transcript", fallback: "qr", choices: ["qr", "nfc"])
  fileprivate static let authentication = Option(
    "authentication", "KIND", "how the device proves its key", fallback: "signature", choices: ["signature", "mac"])
}

/// The request to a mock wallet: the given request in the HTTP API's shape, or else the most suitable request for the
/// variant.
enum MockRequestFile {
  static func request(
    _ arguments: Arguments, for family: ProtocolFamily, over protocolName: String? = nil, variant: MockVariant,
    to wallet: MockWallet
  ) throws(Failure) -> MockRequest {
    let circuits = family == .inApp ? nil : try arguments.circuitLibrary()
    guard
      let request = try arguments.request(for: family, over: protocolName, circuits: circuits)
    else {
      // If the wallet has only another person's documents, request one of those documents.
      let types = Set(wallet.documents.map(\.docType))
      let hasAny = variant.request.documents.contains { types.contains($0.docType) }
      return hasAny ? variant.request : wallet.documents.first?.wholeRequest ?? variant.request
    }
    return MockRequest(
      documents: request.documents.map { document in
        var asked = MockRequest.Document(
          docType: document.docType, elements: document.elements.map { ($0.element.namespace, $0.element.identifier) },
          ageOver: document.ageThresholds)
        asked.circuits = document.proofs?.circuits ?? []
        asked.requiresProof = document.proofs?.isRequired ?? false
        return asked
      })
  }
}

enum MockWeb {
  static let command = Command(
    "web", "make a response to a request of the Digital Credentials API, or to a request object",
    options: [.webProtocol, .requestData, .webOrigin, .webAuthentication, Despite.option, .out]
      + MockCommand.provingOptions,
    notes: [
      "Over the Digital Credentials API, --request-data is `data` of the request's entry, and --origin the page's "
        + "origin. For openid4vp and openid4vp-iso-18013-7-annex-b, --request-data is the request object that the "
        + "wallet fetched; for openid4vp-eu-age-verification, it is the link.",
      "The response is {\"protocol\", \"data\"}, as POST /v1/verification_sessions/{id}/submit takes it. The elements "
        + "are read from the request itself; --request lists the elements that the person agrees to disclose. A "
        + "request that wallets must refuse is refused, unless --despite gives its code. Same arguments, same bytes.",
    ],
    examples: [
      .init(
        "Make a good response",
        """
        mdoc mock web --protocol org-iso-mdoc --request-data data.json \\
          --origin https://shop.example --out response.json
        """),
      .init(
        "Encrypt with a forbidden algorithm",
        "mdoc mock web --protocol openid4vp-v1-signed … --variant jwe-alg-dir --out bad"),
    ], work: run)

  private static let redirected = ["openid4vp", "openid4vp-iso-18013-7-annex-b", "openid4vp-eu-age-verification"]
  static let protocolNames =
    ["org-iso-mdoc", "openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned"] + redirected

  private static func run(_ arguments: Arguments) throws(Failure) {
    let name = try arguments.required(.webProtocol)
    let variant = try MockCommand.variant(arguments)
    let wallet = try MockCommand.wallet(arguments)
    let agreed =
      try arguments.has(.mockRequest)
      ? MockRequestFile.request(arguments, for: .web, over: name, variant: variant, to: wallet) : nil
    let authentication = MockWebAuthentication(rawValue: try arguments.required(.webAuthentication)) ?? .signature
    if authentication == .signature { try MockCommand.requireSigning(wallet) }
    let now = try arguments.time(.at)
    let path = try arguments.required(.requestData)
    let bytes = try FileAccess.read(path, purpose: "request")
    let request: ReceivedRequest
    if redirected.contains(name) {
      // Trims white space at both ends, since a handwritten file usually ends with a line feed.
      request = ReceivedRequest(object: Array(bytes.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()))
    } else {
      let data = try readable("request \(path): ") { try JSON(parsing: bytes) }
      guard let origin = arguments.value(.webOrigin) else { throw .usage("\(name) needs the page's --origin") }
      guard let received = ReceivedRequest(protocolName: name, data: data, origin: origin) else {
        throw .unreadable("request \(path): is not the data of \(name)")
      }
      request = received
    }
    let judgement = RequestJudgement(of: request.content, arrived: request.arrival, at: now)
    if let fault = try Despite(arguments).faults(of: judgement).first {
      throw Failure(
        status: .rejected,
        message: "a wallet refuses the request: \(fault.code.rawValue): \(fault.detail ?? fault.code.entry.summary); "
          + "--despite \(fault.code.rawValue) responds anyway")
    }
    let response = try MockCommand.made {
      try request.response(
        judgement, of: wallet, agreed: agreed, authentication: authentication, variant: variant, at: now)
    }
    let json: JSON = ["protocol": .string(name), "data": response.data]
    try MockOutput.save(
      json.fileContent, response.deviceResponses, over: response.sessionTranscript,
      response.variant, of: wallet, isSigned: authentication == .signature, made: now, arguments)
  }
}

extension Option {
  fileprivate static let webProtocol = Option(
    "protocol", "NAME", "the request's protocol", occurrence: .required, choices: MockWeb.protocolNames)
  fileprivate static let requestData = Option(
    "request-data", "FILE", "the request's data as JSON, the request object, or the link", occurrence: .required)
  fileprivate static let webOrigin = Option(
    "origin", "ORIGIN", "the page's origin, such as https://shop.example")
  fileprivate static let webAuthentication = Option(
    "authentication", "KIND", "how the device proves its key; a MAC needs an encrypted OpenID4VP response",
    fallback: MockWebAuthentication.signature.rawValue, choices: MockWebAuthentication.allCases.map(\.rawValue))
}

enum MockApple {
  static let command = Command(
    "apple", "make a response to Apple's in-app request",
    options: [.nonce, .merchantID, .teamID, .recipient, .out] + MockCommand.walletOptions,
    notes: ["Same arguments, same bytes. The certificates carry a marker that live servers refuse."],
    examples: [
      .init(
        "Make a good response for mdoc verify apple",
        """
        mdoc mock apple --nonce 000102030405060708090a0b0c0d0e0f --merchant-id m \\
          --team-id t --recipient merchant.pem --out response.cbor
        """),
      .init("Make a wrong device signature", "mdoc mock apple … --variant device-signature-zero --out bad.cbor"),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    let variant = try MockCommand.variant(arguments)
    let wallet = try MockCommand.wallet(arguments)
    let request = try MockRequestFile.request(arguments, for: .inApp, variant: variant, to: wallet)
    try MockCommand.requireSigning(wallet)
    let now = try arguments.time(.at)
    let path = try arguments.required(.recipient)
    let recipient = try KeyFile.publicKey(path)
    try KeyFile.requireP256(recipient.curve, path)
    let session = MockAppleSession(
      nonce: try arguments.nonce(.nonce), merchantID: try arguments.required(.merchantID),
      teamID: try arguments.required(.teamID), recipientKey: recipient)
    let response = try MockCommand.made { try wallet.answerApple(request, session: session, variant: variant, at: now) }
    try MockOutput.save(
      response.bytes, [response.deviceResponse], over: response.sessionTranscript, response.variant, of: wallet,
      made: now, arguments)
  }
}

extension Option {
  fileprivate static let recipient = Option(
    "recipient", "FILE", "the merchant's encryption key in PEM: certificate, public or private key",
    occurrence: .required)
}
