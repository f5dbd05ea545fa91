import Base
import Cryptography
import Mock

/// `mdoc mock web`: makes the answer that a wallet gives to a web page or posts to the verifier.
enum MockWeb {
  static let command = Command(
    "web", "make an answer to a request of the Digital Credentials API, or to a request object",
    options: [.webProtocol, .requestData, .webOrigin, .webAuthentication, .out] + MockCommand.provingOptions,
    notes: [
      "Over the Digital Credentials API --request-data is `data` of the request's entry, and --origin that of the page. "
        + "For openid4vp and openid4vp-iso-18013-7-annex-b it is the request object that the wallet fetched, and for "
        + "openid4vp-eu-age-verification the link.",
      "The answer is {\"protocol\", \"data\"}, as POST /v1/verification_sessions/{id}/submit takes it. What is asked is "
        + "read from the request itself; --request is what the person agrees to. Same arguments, same bytes.",
    ],
    examples: [
      .init(
        "A good answer",
        """
        mdoc mock web --protocol org-iso-mdoc --request-data data.json \\
          --origin https://shop.example --out answer.json
        """),
      .init(
        "One encrypted by an algorithm that is not allowed",
        "mdoc mock web --protocol openid4vp-v1-signed … --variant jwe-alg-dir --out bad"),
    ],
    action: run)

  private static let redirected = ["openid4vp", "openid4vp-iso-18013-7-annex-b", "openid4vp-eu-age-verification"]
  fileprivate static let protocolNames =
    ["org-iso-mdoc", "openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned"] + redirected

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
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
    let answer: MockWebAnswer
    if redirected.contains(name) {
      // White space is dropped from both ends, because a file that was written by hand ends with a line feed.
      let object = Array(bytes.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed())
      answer = try MockCommand.made {
        try wallet.answer(
          requestObject: object, request: agreed, authentication: authentication, variant: variant, at: now)
      }
    } else {
      guard let data = try? JSON(parsing: bytes) else { throw .unreadable("request \(path): is no JSON") }
      guard let origin = arguments.value(.webOrigin) else { throw .usage("\(name) needs the page's --origin") }
      answer = try MockCommand.made {
        try wallet.answer(
          digitalCredential: name, data: data, origin: origin, request: agreed, authentication: authentication,
          variant: variant, at: now)
      }
    }
    let json: JSON = ["protocol": .string(name), "data": answer.data]
    try MockOutput.save(
      answer, as: json, of: wallet, isSigned: authentication == .signature, made: now, arguments, console)
    return .done
  }
}

extension Option {
  fileprivate static let webProtocol = Option(
    "protocol", "NAME", "the protocol that is answered", occurrence: .required, choices: MockWeb.protocolNames)
  fileprivate static let requestData = Option(
    "request-data", "FILE", "the request's data as JSON, the request object, or the link", occurrence: .required)
  fileprivate static let webOrigin = Option(
    "origin", "ORIGIN", "of the page that asks, such as https://shop.example")
  fileprivate static let webAuthentication = Option(
    "authentication", "KIND", "how the device proves its key; a MAC needs an encrypted OpenID4VP answer",
    fallback: MockWebAuthentication.signature.rawValue, choices: MockWebAuthentication.allCases.map(\.rawValue))
}

/// `mdoc mock apple`: makes a mock iPhone's answer to an in-app request.
enum MockApple {
  static let command = Command(
    "apple", "make an answer to Apple's in-app request",
    options: [.nonce, .merchantID, .teamID, .recipient, .out] + MockCommand.walletOptions,
    notes: ["Same arguments, same bytes. The certificates carry a marker that live servers refuse."],
    examples: [
      .init(
        "A good answer, which mdoc verify apple then accepts",
        """
        mdoc mock apple --nonce 000102030405060708090a0b0c0d0e0f --merchant-id m \\
          --team-id t --recipient merchant.pem --out answer.cbor
        """),
      .init(
        "One whose device signature is wrong",
        "mdoc mock apple … --variant device-signature-zero --out bad.cbor"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let variant = try MockCommand.variant(arguments)
    let wallet = try MockCommand.wallet(arguments)
    let request = try MockRequestFile.request(arguments, for: .inApp, variant: variant, to: wallet)
    try MockCommand.requireSigning(wallet)
    let now = try arguments.time(.at)
    let path = try arguments.required(.recipient)
    let recipient = try KeyFile.publicKey(path)
    guard recipient.curve == .p256 else {
      throw .unreadable("key \(path): is on \(recipient.curve.rawValue); Apple encrypts to P-256 keys")
    }
    let session = MockAppleSession(
      nonce: try arguments.nonce(.nonce),
      merchantID: try arguments.required(.merchantID), teamID: try arguments.required(.teamID),
      recipientKey: recipient)
    let answer = try MockCommand.made {
      try wallet.answerApple(request, session: session, variant: variant, at: now)
    }
    try MockOutput.save(answer, of: wallet, made: now, arguments, console)
    return .done
  }
}

extension Option {
  fileprivate static let recipient = Option(
    "recipient", "FILE", "the merchant's encryption key in PEM: certificate, public or private key",
    occurrence: .required)
}
