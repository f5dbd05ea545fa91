import Base
import CCurl
import Trust

/// One fetch or one message, from its first connection to its end, over as many redirects as are allowed. Only one
/// thread uses it.
final class Transfer {
  let ticket: FetchTicket
  let easy: OpaquePointer
  let configuration: WebListFetcher.Configuration
  /// Lists that libcurl reads as long as the handle is used.
  var lists: [UnsafeMutablePointer<curl_slist>] = []

  private(set) var address: ListAddress
  private var redirects = 0

  // The answer that is coming in.
  private var header = AnswerHeader()
  private var headerBytes = 0
  private var body: [UInt8] = []
  /// Why a callback stopped the transfer; nil if none did.
  private var fault: FetchError?
  /// Why the address that the name led to last is not allowed; nil if it is. The name may lead to another address as
  /// well.
  private var refusal: String?

  enum Step {
    /// The transfer must be prepared and begun again, at another address.
    case redirected
    case ended(FetchTicket.Answer)
  }

  init?(_ ticket: FetchTicket, _ configuration: WebListFetcher.Configuration) {
    guard let easy = curl_easy_init() else { return nil }
    self.ticket = ticket
    self.easy = easy
    self.configuration = configuration
    address = ticket.address
  }

  /// Called only after the handle was removed from the multi handle.
  deinit {
    curl_easy_cleanup(easy)
    freeLists()
  }

  func freeLists() {
    for list in lists { curl_slist_free_all(list) }
    lists = []
  }

  /// What the end of one exchange means for the fetch.
  func conclude(_ code: CURLcode) -> Step {
    if let fault { return .ended(.failure(fault)) }
    if isMessage, header.isComplete { return .ended(.success(answer)) }
    if header.isComplete, header.isRedirect { return follow() }
    if header.isComplete, header.status != 200 {
      return .ended(.failure(.unavailable("the answer's status is \(header.status)")))
    }
    if code == CURLE_COULDNT_CONNECT, let refusal { return .ended(.failure(.notAllowed(refusal))) }
    guard code == CURLE_OK else { return .ended(.failure(CurlFault.error(code))) }
    guard header.isComplete else { return .ended(.failure(.unavailable("the answer is no HTTP"))) }
    return .ended(.success(answer))
  }

  private var isMessage: Bool { if case .message = ticket.request { true } else { false } }

  private var answer: WebAnswer {
    WebAnswer(
      status: header.status, retryAfter: header.retryAfter,
      list: FetchedList(bytes: body, mediaType: header.mediaType, maxAge: header.maxAge, expires: header.expires))
  }

  private func follow() -> Step {
    guard header.locations.count == 1, let location = header.locations.first else {
      return .ended(.failure(.unavailable("a redirect does not say where to")))
    }
    guard redirects < ticket.rules.maximumRedirects else {
      return .ended(.failure(.notAllowed("there are too many redirects")))
    }
    redirects += 1
    do { address = try address.following(location, allowing: ticket.rules) } catch { return .ended(.failure(error)) }
    header = AnswerHeader()
    headerBytes = 0
    body = []
    refusal = nil
    return .redirected
  }

  // MARK: What libcurl calls

  /// Returns false to stop the transfer.
  func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    headerBytes += line.count
    guard headerBytes <= Limits.fetchHeaderBytes else {
      fault = .unavailable("the answer's header is too long")
      return false
    }
    let end = line.lastIndex { $0 != 0x0d && $0 != 0x0a }.map { $0 + 1 } ?? 0
    header.read(String(decoding: line[..<end], as: UTF8.self))
    // The status alone is the answer to a message.
    guard header.isComplete, fault == nil, !isMessage else { return true }
    // The request asks for no encoding. An answer that is encoded nevertheless is read only if libcurl unpacks it piece
    // by piece.
    guard [nil, "", "identity", "gzip", "x-gzip"].contains(header.encoding) else {
      fault = .unavailable("the answer's encoding can't be read")
      return false
    }
    // If the status is another, the body is not wanted.
    return header.status == 200
  }

  func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= ticket.rules.maximumBytes - body.count else {
      if !isMessage { fault = .tooLarge }
      return false
    }
    body.append(contentsOf: bytes)
    return true
  }

  /// Whether the transfer may go on.
  ///
  /// - Parameter received: bytes as they came, before they are decoded.
  func mayGoOn(after received: Int64) -> Bool {
    let isTooLarge = received > ticket.rules.maximumBytes
    if isTooLarge, fault == nil, !isMessage { fault = .tooLarge }
    return fault == nil && !isTooLarge
  }

  func mayConnect(to peer: NetworkAddress?, port: UInt16) -> Bool {
    guard let peer else {
      refusal = "the address leads to no public host"
      return false
    }
    refusal = AddressGuard.refusal(
      of: peer, port: port, isEncrypted: address.isEncrypted, under: ticket.rules)
    if refusal == nil { configuration.observer?.observe(.connecting) }
    return refusal == nil
  }

  /// Checks the peer again once connected, before a byte of the request is sent.
  func mayAsk(_ peer: NetworkAddress?, port: UInt16) -> Bool {
    let reason: String?
    if let peer {
      reason = AddressGuard.refusal(of: peer, port: port, isEncrypted: address.isEncrypted, under: ticket.rules)
    } else {
      reason = "the address leads to no public host"
    }
    if let reason { fault = .notAllowed(reason) }
    return reason == nil
  }
}

/// Turns libcurl's codes into errors. libcurl's own texts name hosts and addresses, so they are not used.
enum CurlFault {
  static let timedOut = "no complete answer in time"

  static func error(_ code: CURLcode) -> FetchError {
    switch code {
    case CURLE_FILESIZE_EXCEEDED: .tooLarge
    case CURLE_URL_MALFORMAT: .notAllowed("the address can't be read")
    // The answer does not begin as HTTP since 1.0 does. The scheme of the address was checked before.
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .unavailable("the answer is no HTTP")
    case CURLE_OPERATION_TIMEDOUT: .unavailable(timedOut)
    case CURLE_COULDNT_RESOLVE_HOST: .unavailable("the host's name leads nowhere")
    case CURLE_COULDNT_CONNECT: .unavailable("the host takes no connection")
    case CURLE_PEER_FAILED_VERIFICATION: .unavailable("the host's certificate is not trusted, or another's")
    case CURLE_SSL_CACERT_BADFILE: .unavailable("the authorities of TLS can't be read")
    // Also if the host's certificate was not signed by its authority.
    case CURLE_SSL_CONNECT_ERROR: .unavailable("TLS can't be agreed on with the host")
    case CURLE_BAD_CONTENT_ENCODING: .unavailable("the answer's encoding can't be read")
    case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
      .unavailable("the answer broke off")
    default: .unavailable("the transfer failed (libcurl \(code.rawValue))")
    }
  }
}
