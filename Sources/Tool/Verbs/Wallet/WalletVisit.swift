import App
import Base
import Cryptography
import HTTP
import Mock
import Network
import Presentation
import Trust

/// A wallet's exchanges with verifiers: fetches requests, posts responses and errors, and follows redirects (OpenID4VP
/// 1.0, 5.10, 8.2 and 8.5).
///
/// It visits only this machine and the user's listed hosts, for tests of the user's own verifier.
struct WalletVisit: Sendable {
  /// A request as the wallet receives it.
  struct Request: Sendable {
    let content: RequestJudgement.Content
    let arrival: RequestJudgement.Arrival
  }

  /// A verifier's reply.
  struct Reply: Sendable {
    let status: Int
    let location: String?
    let mediaType: String?
    let body: [UInt8]

    var json: JSON? { try? JSON(parsing: body) }
    var isSuccess: Bool { (200..<300).contains(status) }
    /// The address that the wallet opens after its response (OpenID4VP 1.0, 8.2).
    var redirect: String? { json?["redirect_uri"]?.string }

    /// The code of a problem or an error.
    var code: String? { json?["code"]?.string ?? json?["error"]?.string }

    var text: String { "HTTP \(status)" + (code.map { ", \($0)" } ?? "") }
  }

  private let web: WebPoster
  private let hosts: [String]
  private let rules: FetchRules

  /// - Parameters:
  ///   - hosts: the hosts that may be visited besides this machine.
  ///   - seconds: the time for one exchange.
  init(hosts: [String] = [], seconds: Int64 = 30, atOnce: Int = 1) throws(Failure) {
    if let host = hosts.first(where: { $0.contains("/") }) {
      throw .usage("--i-may-test takes only a host, such as verifier.example, not \(host.printableLine)")
    }
    self.hosts = hosts.map { $0.lowercased() }
    var rules = FetchRules(
      allowsPlainHTTP: true, allowsOtherPorts: true, allowsLoopback: true,
      internalTargets: hosts.isEmpty ? .none : InternalTargets(networks: AddressGuard.privateNetworks),
      maximumBytes: 16 << 20, timeLimit: .seconds(seconds))
    // A verifier may compute for a long time before it replies.
    rules.toleratesSilence = true
    self.rules = rules
    do throws(WebListFetcher.StartError) {
      web = try WebPoster(slots: atOnce)
    } catch {
      throw .internal(error.description)
    }
  }

  /// Whether the address is on this machine.
  ///
  /// - Throws: `Failure` if the address belongs to another host that is not listed.
  @discardableResult
  func isHere(_ address: String) throws(Failure) -> Bool {
    let read: ListAddress
    do throws(FetchError) {
      read = try ListAddress(address, allowing: rules)
    } catch {
      throw .usage("\(address.printableLine): \(error.reason)")
    }
    let name = read.host.contains(":") ? "[\(read.host)]" : read.host
    if ListenAddress.isThisMachine(name) { return true }
    guard hosts.contains(read.host) else {
      throw .usage(
        "\(read.host.printableLine) is another machine; name it with --i-may-test \(read.host.printableLine) if its "
          + "verifier is yours")
    }
    return false
  }

  func exchange(_ message: WebMessage, with address: String) async throws(Failure) -> Reply {
    try isHere(address)
    do throws(FetchError) {
      let (reply, content) = try await web.exchange(message, with: address, allowing: rules)
      return Reply(
        status: reply.status, location: reply.location, mediaType: content.mediaType, body: content.bytes)
    } catch {
      throw .temporary("\(address.printableLine): \(error.reason)")
    }
  }

  // MARK: Requests

  /// The request of a link, contained in the link or fetched from its `request_uri`.
  /// - Parameter key: the key of a wallet that wants encrypted requests. The wallet can state this wish only if the
  ///   link asks for a POST.
  func request(of link: AuthorizationLink, encryptedTo key: MockRequestKey? = nil) async throws(Failure) -> Request {
    var arrival = RequestJudgement.Arrival(link: link)
    if let object = link.request { return Request(content: .object(Array(object.utf8)), arrival: arrival) }
    guard let address = link.requestURI else {
      return Request(content: .parameters(.object(link.parameters)), arrival: arrival)
    }
    let accept = "Accept: application/oauth-authz-req+jwt"
    var message = WebMessage(headers: [accept], body: nil)
    if link.wantsPost {
      guard let nonce = try? Random.bytes(32) else { throw .internal("no random bytes") }
      arrival.walletNonce = Base64.encodeURLSafe(nonce)
      let fields: JSON = .members([
        "wallet_nonce": arrival.walletNonce.map { .string($0) }, "wallet_metadata": key?.metadata,
      ])
      message = Self.form(fields, accept: accept)
    }
    let reply = try await exchange(message, with: address)
    guard reply.status == 200 else {
      let status: ExitStatus = (400..<500).contains(reply.status) ? .rejected : .temporary
      throw Failure(status: status, message: "the request could not be fetched: \(reply.text)")
    }
    arrival.mediaType = reply.mediaType
    let parts = reply.body.count { $0 == UInt8(ascii: ".") } + 1
    guard let key, parts == 5 else { return Request(content: .object(reply.body), arrival: arrival) }
    do {
      return Request(content: .object(try key.open(reply.body)), arrival: arrival)
    } catch {
      throw .temporary("\(error)")
    }
  }

  // MARK: Responses

  /// Posts the fields of a response, or of an error, as a form.
  func post(_ fields: JSON, to address: String) async throws(Failure) -> Reply {
    try await exchange(Self.form(fields, accept: "Accept: application/json"), with: address)
  }

  /// Opens the address in a reply, as a wallet's browser does. Follows at most five redirects.
  func follow(_ address: String) async throws(Failure) -> Reply {
    var address = address
    for _ in 0..<5 {
      let reply = try await exchange(WebMessage(body: nil), with: address)
      guard let location = reply.location else { return reply }
      do throws(FetchError) {
        address = try ListAddress(address, allowing: rules).following(location, allowing: rules).text
      } catch {
        throw .temporary("the redirect cannot be followed: \(error.reason)")
      }
    }
    throw .temporary("there are too many redirects")
  }

  /// The fields as a form, with strings unchanged. Any other value is written as JSON (OpenID4VP 1.0, 8.2).
  private static func form(_ fields: JSON, accept: String) -> WebMessage {
    let text = FormEncoding.text(
      of: (fields.object ?? []).map { (name: $0.name, value: $0.value.string ?? $0.value.text()) })
    return WebMessage(
      headers: [accept, "Content-Type: application/x-www-form-urlencoded"], body: Array(text.utf8))
  }
}
