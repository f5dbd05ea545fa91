import Base
import Mdoc
import PKIX
import Presentation

enum VerifyRequest {
  static let command = Command(
    "request", "verify that a request to a wallet conforms to its standard",
    options: [
      .link, .walletNonce, .root, .pageOrigin, .encryptionInfo, .requestProfile, .at,
    ] + VerifyCommand.output,
    operand: Operand(
      placeholder: "FILE|LINK",
      help:
        "a link that contains its request (openid4vp://, haip-vp://, av:// …), or a file: a request object (a JWS), a "
        + "DeviceRequest, or JSON: an entry of a session's requests, or the Digital Credentials API's protocol and data"
    ),
    notes: [
      "A link that leads to its request by request_uri is not fetched here: `mdoc wallet` does that. For a request "
        + "object that was fetched, give its link as --link, and after a POST the nonce as --wallet-nonce.",
      "Signatures are verified. Trust in the signer is only checked with --root. The signature of a DeviceRequest needs "
        + "--origin and its encryptionInfo.",
      "Exit status: 0 the request is right, 1 a check failed, 64 usage, 65 a file cannot be read.",
    ],
    examples: [
      .init(
        "Verify a request object with its link", "mdoc verify request request.jwt --link 'openid4vp://?client_id=…'"),
      .init(
        "Verify a request that a page passes to the browser",
        "mdoc verify request request.json --origin https://shop.example"),
    ], action: run)

  private static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    let operand = arguments.operand ?? ""
    var arrival = RequestJudgement.Arrival(
      origin: arguments.value(.pageOrigin), walletNonce: arguments.value(.walletNonce))
    arrival.link = try arguments.value(.link).map { text throws(Failure) in
      guard let link = AuthorizationLink(text) else { throw .usage("--link must be a link with a query") }
      return link
    }
    let content: RequestJudgement.Content
    if let link = AuthorizationLink(operand) {
      content = try contained(in: link, &arrival)
    } else {
      let file = try RequestToVerify(at: operand)
      arrival.protocolName = file.protocolName
      switch file.content {
      case .deviceRequest(let bytes):
        content = .deviceRequest(bytes, encryptionInfo: arguments.value(.encryptionInfo) ?? file.encryptionInfo)
      case .requestObject(let text): content = .object(text)
      case .parameters(let json): content = .parameters(json)
      case .link(let link):
        arrival.protocolName = nil
        content = try contained(in: link, &arrival)
      }
    }
    let now = try arguments.time(.at)
    let profile = arguments.value(.requestProfile).flatMap(RequestJudgement.Profile.init) ?? .openID4VP
    let judgement = RequestJudgement(
      of: content, arrived: arrival, roots: try FoundCertificate.certificates(in: arguments.values(.root)), at: now,
      profile: profile)
    try VerifyCommand.publish(
      output(judgement, at: now, profile), kind: "Report of a request to a wallet",
      files: [.root], arguments)
    return judgement.faults.isEmpty ? .done : .rejected
  }

  private static func contained(
    in link: AuthorizationLink, _ arrival: inout RequestJudgement.Arrival
  ) throws(Failure) -> RequestJudgement.Content {
    guard link.requestURI == nil else {
      throw .usage("the link's request is at request_uri, and is not fetched here: use `mdoc wallet`, or a FILE")
    }
    arrival.link = link
    return link.request.map { .object(Array($0.utf8)) } ?? .parameters(.object(link.parameters))
  }

  private static func output(
    _ judgement: RequestJudgement, at now: Timestamp, _ profile: RequestJudgement.Profile
  ) -> [Report] {
    let faults = judgement.faults
    let signer = judgement.client.certificates.first?.subject.text
    let error = faults.first.map { WalletError(for: $0.code).rawValue }
    return [
      .verdict([faults.isEmpty ? .good("RIGHT") : .bad("BROKEN"), " at \(now)"]),
      .members(["right": faults.isEmpty, "profile": profile.rawValue, "at": now]),
      .row("Client", judgement.client.id?.printableLine, as: "client_id"),
      .row("Signed by", signer, as: "signer"),
      .row("A wallet's error", error, as: "wallet_error"),
      .member("checks", judgement.checks), .checks("Checks of the request", judgement.checks),
      .section(Report.remedies(of: judgement.checks.filter { [.failed, .warning].contains($0.outcome) })),
    ]
  }
}

extension Option {
  fileprivate static let link = Option("link", "LINK", "the link that led to the request object of FILE")
  fileprivate static let walletNonce = Option(
    "wallet-nonce", "TEXT", "the wallet_nonce that was posted to get the request object")
  fileprivate static let root = Option(
    "root", "PEM", "an authority of readers; without --root, trust in the signer is not checked",
    occurrence: .repeatable)
  fileprivate static let requestProfile = Option(
    "profile", "NAME", "also check the rules of a profile: haip (HAIP 1.0)",
    fallback: RequestJudgement.Profile.openID4VP.rawValue,
    choices: RequestJudgement.Profile.allCases.map(\.rawValue))
}
