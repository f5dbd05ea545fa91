import CCurl
import Trust

extension EasyOptions {
  /// libcurl calls these on the thread that drives the transfer, while that thread holds it.
  mutating func setCallbacks(of transfer: Transfer) {
    var callbacks = mdoc_curl_callbacks(
      on_body: { bytes, size, count, context in
        // Any other number than that of the bytes stops the transfer.
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

  /// A number of bytes that is not theirs.
  private static func stop(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.isEmpty ? 1 : 0 }
}

extension Transfer {
  fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }
}
