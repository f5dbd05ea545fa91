import Base
import CCurl
import Trust

extension Transfer {
  /// Sets all options for one exchange with `address`. Returns false if libcurl refuses one of them.
  func prepare() -> Bool {
    curl_easy_reset(easy)
    freeLists()
    var options = EasyOptions(easy)

    options.set(CURLOPT_URL, address.text)
    options.set(CURLOPT_PROTOCOLS_STR, address.isEncrypted ? "https" : "http")
    options.set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    // Every redirect comes back to us, and is checked like a first address.
    options.set(CURLOPT_FOLLOWLOCATION, 0)
    options.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    ask(&options)
    options.set(CURLOPT_USERAGENT, "mdoc")

    // Take nothing from the environment, and nothing from other fetches.
    options.set(CURLOPT_PROXY, "")
    options.set(CURLOPT_NOPROXY, "*")
    options.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    options.set(CURLOPT_FRESH_CONNECT, 1)
    options.set(CURLOPT_FORBID_REUSE, 1)
    options.set(CURLOPT_SSL_SESSIONID_CACHE, 0)
    options.set(CURLOPT_NOSIGNAL, 1)
    // A name lookup that hangs ends by itself; libcurl does not wait for it.
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
    options.set(CURLOPT_LOW_SPEED_LIMIT, 1)
    options.set(CURLOPT_LOW_SPEED_TIME, Int(Limits.fetchSilenceSeconds))

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
      // "identity" asks for no encoding. Because the option is set, libcurl unpacks an answer that is encoded
      // nevertheless.
      options.set(CURLOPT_ACCEPT_ENCODING, "identity")
      guard !ticket.rules.mediaTypes.isEmpty else { return }
      add(["Accept: " + ticket.rules.mediaTypes.joined(separator: ", ")], as: CURLOPT_HTTPHEADER, to: &options)
    case .message(let message):
      options.set(CURLOPT_POST, 1)
      options.set(body: message.body)
      add(message.headers, as: CURLOPT_HTTPHEADER, to: &options)
    }
  }

  private func add(_ lines: [String], as option: CURLoption, to options: inout EasyOptions) {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines {
      // A line break would begin another header.
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

/// Sets options, and remembers whether libcurl accepted each of them: a refused one would leave a guard open.
struct EasyOptions {
  let easy: OpaquePointer
  var areSet = true

  init(_ easy: OpaquePointer) { self.easy = easy }

  mutating func set(_ option: CURLoption, _ value: Int) { note(mdoc_curl_set_long(easy, option, value)) }
  mutating func set(_ option: CURLoption, _ value: String?) { note(mdoc_curl_set_text(easy, option, value)) }

  mutating func set(size option: CURLoption, _ value: Int) {
    note(mdoc_curl_set_size(easy, option, curl_off_t(value)))
  }

  /// libcurl keeps a copy.
  mutating func set(body: [UInt8]) {
    note(body.withUnsafeBytes { mdoc_curl_set_body(easy, $0.baseAddress, curl_off_t($0.count)) })
  }

  mutating func set(list option: CURLoption, _ value: UnsafeMutablePointer<curl_slist>) {
    note(mdoc_curl_set_list(easy, option, value))
  }

  mutating func note(_ code: CURLcode) { if code != CURLE_OK { areSet = false } }
}

extension EasyOptions {
  /// libcurl calls these on the thread that drives the transfer, while that thread holds it.
  mutating func setCallbacks(of transfer: Transfer) {
    var callbacks = mdoc_curl_callbacks(
      on_body: { bytes, size, count, context in
        // Returning any other number than that of the bytes stops the transfer.
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

  /// A number other than that of the bytes, which stops the transfer.
  private static func stop(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.isEmpty ? 1 : 0 }
}

extension Transfer {
  fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }
}
