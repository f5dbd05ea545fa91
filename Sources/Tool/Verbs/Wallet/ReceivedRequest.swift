import App
import Base
import Mdoc
import Mock
import Presentation
import Vectors

/// A request as a wallet receives it, by a link or from a page.
struct ReceivedRequest {
  let content: RequestJudgement.Content
  let arrival: RequestJudgement.Arrival
  /// `data` of `org-iso-mdoc`. Nil for an OpenID4VP request: its response needs only the judged parameters.
  private let data: JSON?

  /// The protocol over the Digital Credentials API; nil for a link.
  var protocolName: String? { arrival.protocolName }
  /// The address of the verifier, or of its page.
  var address: String? { arrival.link.map { $0.requestURI ?? $0["response_uri"]?.string } ?? arrival.origin }

  /// Fetches the request of a link.
  init(link text: String, _ visit: WalletVisit, encryptedTo key: MockRequestKey) async throws(Failure) {
    let text = try await Self.link(text)
    guard let link = AuthorizationLink(text) else { throw .unreadable("the QR code is not a link with a request") }
    let fetched = try await visit.request(of: link, encryptedTo: key)
    (content, arrival, data) = (fetched.content, fetched.arrival, nil)
  }

  /// A request object, or a link that contains its request.
  init(object: [UInt8]) {
    let link = AuthorizationLink(String(decoding: object, as: UTF8.self))
    content = link.map { .parameters(.object($0.parameters)) } ?? .object(object)
    (arrival, data) = (.init(link: link), nil)
  }

  /// A request of the Digital Credentials API; nil if the protocol is unknown or the request is missing.
  init?(protocolName: String, data: JSON, origin: String) {
    switch protocolName {
    case "openid4vp-v1-unsigned": content = .parameters(data)
    case "openid4vp-v1-signed", "openid4vp-v1-multisigned":
      guard let request = data["request"] else { return nil }
      content = .object(request.string.map { Array($0.utf8) } ?? request.serialized())
    case "org-iso-mdoc":
      guard let request = data["deviceRequest"]?.string.flatMap(Base64.decodeURLSafe) else { return nil }
      content = .deviceRequest(request, encryptionInfo: data["encryptionInfo"]?.string)
    default: return nil
    }
    arrival = .init(protocolName: protocolName, origin: origin)
    self.data = protocolName == "org-iso-mdoc" ? data : nil
  }

  /// The text itself if it is a link; otherwise the link in the picture at this path.
  private static func link(_ text: String) async throws(Failure) -> String {
    if AuthorizationLink(text) != nil { return text }
    guard FileAccess.exists(text) else {
      throw .usage("\(text.printableLine) is neither a link with a request nor a file")
    }
    let quoted = "'" + text.replacing("'", with: "'\\''") + "'"
    let missing = "no zbarimg"
    let line = try? await HarnessChild.line(
      of: "command -v zbarimg >/dev/null || { echo \(missing); exit; }; zbarimg --quiet --raw -- \(quoted) | head -n 1")
    guard let line else { throw .unreadable("\(text.printableLine): zbarimg finds no QR code in it") }
    let found = String(decoding: line, as: UTF8.self)
    if found == missing { throw .usage("QR codes are read by zbarimg, which is not installed (Debian: zbar-tools)") }
    guard AuthorizationLink(found) != nil else {
      throw .unreadable("\(text.printableLine): its QR code is not a link with a request")
    }
    return found
  }

  /// The response of a wallet. The holder agrees to `agreed`, or to everything if `agreed` is nil.
  ///
  /// - Parameter judgement: the judgement on this request. The response uses its parameters.
  func response(
    _ judgement: RequestJudgement, of wallet: MockWallet, agreed: MockRequest? = nil,
    authentication: MockWebAuthentication = .signature, variant: MockVariant, at now: Timestamp
  ) throws -> MockWebResponse {
    if let protocolName, let data {
      return try wallet.answer(
        digitalCredential: protocolName, data: data, origin: arrival.origin ?? "", request: agreed,
        authentication: authentication, variant: variant, at: now)
    }
    return try wallet.answer(
      parameters: judgement.claims ?? .object([]), origin: arrival.origin, request: agreed,
      authentication: authentication, variant: variant, at: now)
  }

  /// Reports the client, the requested elements and the findings about the request.
  func report(_ judgement: RequestJudgement) -> [Report] {
    let asked =
      if let request = data?["deviceRequest"]?.string {
        try? MockRequest(deviceRequest: request)
      } else {
        try? MockRequest(parameters: judgement.claims ?? .object([]))
      }
    let documents = (asked?.documents ?? []).map { ($0.docType, $0.elements.map(\.identifier)) }
    let findings = judgement.checks.filter { $0.outcome == .failed || $0.outcome == .warning }
    return [
      .row("Asked by", judgement.client.id ?? "a party without a name", as: "client", judgement.client.id),
      .row("Signed by", judgement.client.certificates.first?.subject.text, as: "signer"),
      .member("documents", documents.map { JSON.of(["doc_type": $0.0, "elements": $0.1]) }),
      .section([.line(.bold("Asked for")), .table(documents.map { ($0.0, $0.1.joined(separator: ", ")) })]),
      findings.isEmpty
        ? .section([.member("checks", findings), .line("The request is as the standard prescribes.")])
        : .listed("Findings about the request", findings),
    ]
  }
}

/// The option `--despite`: the codes of checks that may fail without stopping the wallet's response.
struct Despite {
  static let option = Option(
    "despite", "CODE", "respond although this check of the request fails", occurrence: .repeatable)

  private let names: [String]

  init(_ arguments: Arguments) throws(Failure) {
    names = arguments.values(Self.option)
    let known = (CodeGroup.requests.codes + CodeGroup.readerAuthentication.codes).map(\.rawValue)
    if let name = names.first(where: { !known.contains($0) }) {
      throw .unknown("code of a request", name, among: known, or: " (mdoc codes lists them)")
    }
  }

  /// The failed checks that the option does not list.
  func faults(of judgement: RequestJudgement) -> [Check] {
    judgement.faults.filter { !names.contains($0.code.rawValue) }
  }
}
