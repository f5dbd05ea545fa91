import App
import Base
import Mdoc
import Mock
import Presentation
import Vectors

/// A request as it reached a wallet, by a link or from a page.
struct ReceivedRequest {
  let content: RequestJudgement.Content
  let arrival: RequestJudgement.Arrival
  /// The request object, or the link that holds the request; empty over the Digital Credentials API.
  private let bytes: [UInt8]
  /// `data` of the Digital Credentials API.
  private let data: JSON?

  /// The protocol over the Digital Credentials API; nil for a link.
  var protocolName: String? { arrival.protocolName }
  /// The address of the verifier; nil over the Digital Credentials API.
  var address: String? { arrival.link.flatMap { $0.requestURI ?? $0["response_uri"]?.string } }

  /// A link, whose request the visit fetches.
  init(link text: String, _ visit: WalletVisit, encryptedTo key: MockRequestKey) async throws(Failure) {
    let text = try await Self.link(text)
    guard let link = AuthorizationLink(text) else { throw .unreadable("the QR code is not a link with a request") }
    let fetched = try await visit.request(of: link, encryptedTo: key)
    (content, arrival, data) = (fetched.content, fetched.arrival, nil)
    if case .object(let object) = fetched.content { bytes = object } else { bytes = Array(text.utf8) }
  }

  /// A request object, or a link that holds its request.
  init(object: [UInt8]) {
    let link = AuthorizationLink(String(decoding: object, as: UTF8.self))
    content = link.map { .parameters(.object($0.parameters)) } ?? .object(object)
    (arrival, bytes, data) = (.init(link: link), object, nil)
  }

  /// An entry of the Digital Credentials API; nil if a wallet does not know it.
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
    (arrival, bytes, self.data) = (.init(protocolName: protocolName, origin: origin), [], data)
  }

  /// The text itself if it is a link; otherwise the link in the picture that it names.
  private static func link(_ text: String) async throws(Failure) -> String {
    if AuthorizationLink(text) != nil { return text }
    guard FileAccess.exists(text) else {
      throw .usage("\(text.printableLine) is neither a link with a request nor a file")
    }
    let quoted = "'" + text.replacing("'", with: "'\\''") + "'"
    do throws(VerdictError) {
      let line = try await HarnessChild.line(of: "zbarimg --quiet --raw -- \(quoted) | head -n 1")
      return String(decoding: line, as: UTF8.self)
    } catch {
      throw .unreadable(
        "\(text.printableLine): zbarimg (Debian: zbar-tools) found no QR code in it, or is not installed")
    }
  }

  /// The response of a wallet whose holder agrees to `agreed`; nil agrees to everything.
  func response(
    of wallet: MockWallet, agreed: MockRequest? = nil, authentication: MockWebAuthentication = .signature,
    variant: MockVariant, at now: Timestamp
  ) throws -> MockWebResponse {
    guard let protocolName, let data else {
      return try wallet.answer(
        requestObject: bytes, request: agreed, authentication: authentication, variant: variant, at: now)
    }
    return try wallet.answer(
      digitalCredential: protocolName, data: data, origin: arrival.origin ?? "", request: agreed,
      authentication: authentication, variant: variant, at: now)
  }

  /// Who asks for what, and what is wrong with the request.
  func report(_ judgement: RequestJudgement) -> [Report] {
    let asked =
      protocolName.flatMap { name in try? MockRequest(ofDigitalCredential: name, data: data ?? .null) }
      ?? (try? MockRequest(ofRequestObject: bytes))
    let documents = (asked?.documents ?? []).map { document in
      (document.docType, document.elements.map(\.identifier).joined(separator: ", "))
    }
    let findings = judgement.checks.filter { $0.outcome == .failed || $0.outcome == .warning }
    return [
      .row("Asked by", judgement.client.id ?? "a party without a name", as: "client", judgement.client.id),
      .row("Signed by", judgement.client.certificates.first?.subject.text, as: "signer"),
      .member("documents", documents.map { JSON.of(["doc_type": $0.0, "elements": $0.1]) }),
      .section([.line(.bold("Asked for")), .table(documents)]),
      findings.isEmpty
        ? .section([.member("checks", findings), .line("The request is as the standard prescribes.")])
        : .listed("Findings about the request", findings),
    ]
  }
}

/// The option by which a wallet answers a request that it must refuse.
enum Despite {
  static let option = Option(
    "despite", "CODE", "answer though this check of the request fails", occurrence: .repeatable)

  /// The failed checks that the option does not name.
  static func faults(of judgement: RequestJudgement, _ arguments: Arguments) throws(Failure) -> [Check] {
    let names = arguments.values(option)
    if let name = names.first(where: { Code(rawValue: $0) == nil }) {
      throw .unknown("code", name, among: CodeGroup.requests.codes.map(\.rawValue), or: " (mdoc codes lists them)")
    }
    return judgement.faults.filter { !names.contains($0.code.rawValue) }
  }
}
