import Base
import CCurl
import Trust

/// One fetch with its redirects, or one message. Only one thread uses it.
final class Transfer {
  let ticket: FetchTicket
  let easy: OpaquePointer
  let configuration: WebListFetcher.Configuration
  /// Lists that libcurl reads for as long as the handle is in use.
  var lists: [UnsafeMutablePointer<curl_slist>] = []

  private(set) var address: ListAddress
  private var redirects = 0

  // The incoming reply.
  private var header = ReplyHeader()
  private var headerBytes = 0
  private var body: [UInt8] = []
  /// The reason why a callback stopped the transfer; nil if none did.
  private var error: FetchError?
  /// The reason why the last address of the host's name is not allowed; nil if it is allowed. A name may have several
  /// addresses.
  private var refusal: String?

  enum Step {
    /// The transfer must be prepared and begun again with another address.
    case redirected
    case ended(FetchTicket.Outcome)

    static func failed(_ error: FetchError) -> Step { .ended(.failure(error)) }
  }

  init?(_ ticket: FetchTicket, _ configuration: WebListFetcher.Configuration) {
    guard let easy = curl_easy_init() else { return nil }
    self.ticket = ticket
    self.easy = easy
    self.configuration = configuration
    address = ticket.address
  }

  /// Must be called only after the handle was removed from the multi handle.
  deinit {
    curl_easy_cleanup(easy)
    freeLists()
  }

  func freeLists() {
    for list in lists { curl_slist_free_all(list) }
    lists = []
  }

  /// Concludes one exchange: ends the fetch, or continues it at another address.
  func conclude(_ code: CURLcode) -> Step {
    if let error { return .failed(error) }
    if isMessage, header.isComplete { return success }
    if header.isComplete, header.isRedirect { return follow() }
    if header.isComplete, header.status != 200 {
      return .failed(.unavailable("the reply's status is \(header.status)"))
    }
    if code == CURLE_COULDNT_CONNECT, let refusal { return .failed(.notAllowed(refusal)) }
    guard code == CURLE_OK else { return .failed(FetchError(code)) }
    return header.isComplete ? success : .failed(.unavailable("the reply is not HTTP"))
  }

  private var isMessage: Bool { if case .message = ticket.request { true } else { false } }

  private var success: Step {
    let reply = WebReply(
      status: header.status, retryAfter: header.retryAfter,
      location: header.isRedirect && header.locations.count == 1 ? header.locations.first : nil)
    let list = FetchedList(bytes: body, mediaType: header.mediaType, maxAge: header.maxAge, expires: header.expires)
    return .ended(.success((reply, list)))
  }

  private func follow() -> Step {
    guard header.locations.count == 1, let location = header.locations.first else {
      return .failed(.unavailable("a redirect has no target"))
    }
    guard redirects < ticket.rules.maximumRedirects else { return .failed(.notAllowed("there are too many redirects")) }
    redirects += 1
    do { address = try address.following(location, allowing: ticket.rules) } catch { return .failed(error) }
    header = ReplyHeader()
    headerBytes = 0
    body = []
    refusal = nil
    return .redirected
  }

  // MARK: libcurl's callbacks

  /// Returns false to stop the transfer.
  func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    headerBytes += line.count
    guard headerBytes <= Limits.fetchHeaderBytes else {
      error = .unavailable("the reply's header is too long")
      return false
    }
    let end = line.lastIndex { $0 != 0x0d && $0 != 0x0a }.map { $0 + 1 } ?? 0
    header.read(String(decoding: line[..<end], as: UTF8.self))
    // For a message, every reply is a success, whatever its status.
    guard header.isComplete, error == nil, !isMessage else { return true }
    // The request asks for no encoding. An encoded reply is accepted only if libcurl can decode it piece by piece.
    guard [nil, "", "identity", "gzip", "x-gzip"].contains(header.encoding) else {
      error = .unavailable("the reply's encoding is unsupported")
      return false
    }
    // With another status the body is ignored.
    return header.status == 200
  }

  func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= ticket.rules.maximumBytes - body.count else {
      if !isMessage { error = .tooLarge }
      return false
    }
    body.append(contentsOf: bytes)
    return true
  }

  /// True if the transfer may continue after this number of bytes, counted before decoding.
  func mayGoOn(after received: Int64) -> Bool {
    let isTooLarge = received > ticket.rules.maximumBytes
    if isTooLarge, error == nil, !isMessage { error = .tooLarge }
    return error == nil && !isTooLarge
  }

  private func refusal(of peer: NetworkAddress?, _ port: UInt16) -> String? {
    guard let peer else { return AddressGuard.notPublic }
    return AddressGuard.refusal(of: peer, port: port, isEncrypted: address.isEncrypted, under: ticket.rules)
  }

  func mayConnect(to peer: NetworkAddress?, port: UInt16) -> Bool {
    refusal = refusal(of: peer, port)
    if refusal == nil { configuration.observer?.observe(.connecting) }
    return refusal == nil
  }

  /// Checks the peer again after connecting, before a byte of the request is sent.
  func mayAsk(_ peer: NetworkAddress?, port: UInt16) -> Bool {
    guard let reason = refusal(of: peer, port) else { return true }
    error = .notAllowed(reason)
    return false
  }
}

extension FetchError {
  static let timedOut = FetchError.unavailable("no complete reply in time")

  /// Makes an error from libcurl's code. libcurl's own texts are not used, since they contain hosts and addresses.
  fileprivate init(_ code: CURLcode) {
    self =
      switch code {
      case CURLE_FILESIZE_EXCEEDED: .tooLarge
      case CURLE_URL_MALFORMAT: .notAllowed("the address is malformed")
      // The reply does not begin with a status line of HTTP/1.0 or later. The scheme of the address was already
      // checked.
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .unavailable("the reply is not HTTP")
      case CURLE_OPERATION_TIMEDOUT: .timedOut
      case CURLE_COULDNT_RESOLVE_HOST: .unavailable("the host's name cannot be resolved")
      case CURLE_COULDNT_CONNECT: .unavailable("cannot connect to the host")
      case CURLE_PEER_FAILED_VERIFICATION: .unavailable("the host's certificate is not trusted, or is for another name")
      case CURLE_SSL_CACERT_BADFILE: .unavailable("the file of TLS authorities cannot be read")
      // This code also occurs if the host's certificate is not signed by its authority.
      case CURLE_SSL_CONNECT_ERROR: .unavailable("the TLS handshake with the host failed")
      case CURLE_BAD_CONTENT_ENCODING: .unavailable("the reply's encoding is unsupported")
      case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
        .unavailable("the reply broke off")
      default: .unavailable("the transfer failed: libcurl error \(code.rawValue)")
      }
  }
}

extension Transfer {
  /// Sets all options for one exchange with `address`. Returns false if libcurl refuses one of them.
  func prepare() -> Bool {
    curl_easy_reset(easy)
    freeLists()
    var options = EasyOptions(easy)

    options.set(CURLOPT_URL, address.text)
    options.set(CURLOPT_PROTOCOLS_STR, address.isEncrypted ? "https" : "http")
    options.set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    // libcurl must not follow redirects: this code checks each target like a first address.
    options.set(CURLOPT_FOLLOWLOCATION, 0)
    options.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    ask(&options)
    options.set(CURLOPT_USERAGENT, "mdoc")

    // Use nothing from the environment, and nothing from other fetches.
    options.set(CURLOPT_PROXY, "")
    options.set(CURLOPT_NOPROXY, "*")
    options.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    options.set(CURLOPT_FRESH_CONNECT, 1)
    options.set(CURLOPT_FORBID_REUSE, 1)
    options.set(CURLOPT_SSL_SESSIONID_CACHE, 0)
    options.set(CURLOPT_NOSIGNAL, 1)
    // libcurl must not wait for a hanging name lookup. The lookup ends by itself.
    options.set(CURLOPT_QUICK_EXIT, 1)

    options.set(CURLOPT_SSL_VERIFYPEER, 1)
    options.set(CURLOPT_SSL_VERIFYHOST, 2)
    options.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    if let authorities = configuration.authorities {
      options.set(CURLOPT_CAINFO, authorities)
      options.set(CURLOPT_CAPATH, nil)
    }

    let remaining = max(1, ticket.remainingMilliseconds)
    options.set(CURLOPT_TIMEOUT_MS, remaining)
    options.set(CURLOPT_CONNECTTIMEOUT_MS, min(remaining, Int(Limits.fetchConnectSeconds) * 1_000))
    if !ticket.rules.toleratesSilence {
      options.set(CURLOPT_LOW_SPEED_LIMIT, 1)
      options.set(CURLOPT_LOW_SPEED_TIME, Int(Limits.fetchSilenceSeconds))
    }

    if !configuration.pinnedNames.isEmpty { add(configuration.pinnedNames, as: CURLOPT_RESOLVE, to: &options) }
    options.setCallbacks(of: self)
    return options.areSet
  }

  /// Sets the method, the body and the header fields.
  private func ask(_ options: inout EasyOptions) {
    switch ticket.request {
    case .list:
      options.set(CURLOPT_HTTPGET, 1)
      options.set(size: CURLOPT_MAXFILESIZE_LARGE, ticket.rules.maximumBytes)
      // "identity" asks for no encoding. If a reply is encoded nevertheless, this option makes libcurl decode it.
      options.set(CURLOPT_ACCEPT_ENCODING, "identity")
      guard !ticket.rules.mediaTypes.isEmpty else { return }
      add(["Accept: " + ticket.rules.mediaTypes.joined(separator: ", ")], as: CURLOPT_HTTPHEADER, to: &options)
    case .message(let message):
      if let body = message.body {
        options.set(CURLOPT_POST, 1)
        options.set(body: body)
      } else {
        options.set(CURLOPT_HTTPGET, 1)
      }
      add(message.headers, as: CURLOPT_HTTPHEADER, to: &options)
    }
  }

  private func add(_ lines: [String], as option: CURLoption, to options: inout EasyOptions) {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines {
      // A line break would begin another header field.
      guard line.utf8.allSatisfy({ (0x20...0x7e).contains($0) }), let longer = curl_slist_append(list, line) else {
        options.areSet = false
        continue
      }
      list = longer
    }
    guard let list else { return }
    lists.append(list)
    options.set(list: option, list)
  }
}

/// Sets options, and records whether libcurl accepts all of them. A refused option disables a guard.
struct EasyOptions {
  let easy: OpaquePointer
  var areSet = true

  init(_ easy: OpaquePointer) { self.easy = easy }

  mutating func set(_ option: CURLoption, _ value: Int) { note(mdoc_curl_set_long(easy, option, value)) }
  mutating func set(_ option: CURLoption, _ value: String?) { note(mdoc_curl_set_text(easy, option, value)) }

  mutating func set(size option: CURLoption, _ value: Int) {
    note(mdoc_curl_set_size(easy, option, curl_off_t(value)))
  }

  /// libcurl copies the value.
  mutating func set(body: [UInt8]) {
    note(body.withUnsafeBytes { mdoc_curl_set_body(easy, $0.baseAddress, curl_off_t($0.count)) })
  }

  mutating func set(list option: CURLoption, _ value: UnsafeMutablePointer<curl_slist>) {
    note(mdoc_curl_set_list(easy, option, value))
  }

  mutating func note(_ code: CURLcode) { if code != CURLE_OK { areSet = false } }
}

extension EasyOptions {
  /// Sets the callbacks. libcurl calls them on the transfer's thread, which retains the transfer.
  mutating func setCallbacks(of transfer: Transfer) {
    var callbacks = mdoc_curl_callbacks(
      on_body: { bytes, size, count, context in
        // Any return value other than the number of bytes stops the transfer.
        let all = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return Transfer.of(context)?.takeBody(all) == true ? all.count : Self.stop(all)
      },
      on_header: { bytes, size, count, context in
        let all = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return Transfer.of(context)?.takeHeader(all) == true ? all.count : Self.stop(all)
      },
      on_progress: { context, _, received, _, _ in
        Transfer.of(context)?.mayGoOn(after: Int64(received)) == true ? 0 : 1
      },
      on_socket: { context, purpose, peer in
        guard purpose == CURLSOCKTYPE_IPCXN, let peer, let transfer = Transfer.of(context) else {
          return CURL_SOCKET_BAD
        }
        var octets: [UInt8] = Array(repeating: 0, count: 16)
        var port: UInt16 = 0
        let count = mdoc_curl_peer(peer, &octets, &port)
        guard transfer.mayConnect(to: NetworkAddress(octets: Array(octets.prefix(count))), port: port) else {
          return CURL_SOCKET_BAD
        }
        let kind = peer.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        return socket(peer.pointee.family, kind, peer.pointee.protocol)
      },
      on_connected: { context, peer, _, port, _ in
        guard let transfer = Transfer.of(context), let peer, let port = UInt16(exactly: port) else {
          return CURL_PREREQFUNC_ABORT
        }
        return transfer.mayAsk(NetworkAddress(String(cString: peer)), port: port)
          ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
      },
      context: Unmanaged.passUnretained(transfer).toOpaque())
    note(mdoc_curl_set_callbacks(easy, &callbacks))
  }

  /// A return value that stops the transfer, because it differs from the number of bytes.
  private static func stop(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.isEmpty ? 1 : 0 }
}

extension Transfer {
  fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }
}
