import CCurl
import Trust

/// What libcurl's codes come to. Its own texts name hosts and addresses, and are not used.
enum CurlFault {
  static let timedOut = "no complete answer in time"

  static func error(_ code: CURLcode) -> FetchError {
    switch code {
    case CURLE_FILESIZE_EXCEEDED: .tooLarge
    case CURLE_URL_MALFORMAT: .notAllowed("the address can't be read")
    // An answer that begins otherwise than HTTP since 1.0 does; the scheme was seen to before.
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .unavailable("the answer is no HTTP")
    case CURLE_OPERATION_TIMEDOUT: .unavailable(timedOut)
    case CURLE_COULDNT_RESOLVE_HOST: .unavailable("the host's name leads nowhere")
    case CURLE_COULDNT_CONNECT: .unavailable("the host takes no connection")
    case CURLE_PEER_FAILED_VERIFICATION: .unavailable("the host's certificate is not trusted, or another's")
    case CURLE_SSL_CACERT_BADFILE: .unavailable("the authorities of TLS can't be read")
    // Also where the signature of the host's certificate is not its authority's.
    case CURLE_SSL_CONNECT_ERROR: .unavailable("TLS can't be agreed on with the host")
    case CURLE_BAD_CONTENT_ENCODING: .unavailable("the answer's encoding can't be read")
    case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
      .unavailable("the answer broke off")
    default: .unavailable("the transfer failed (libcurl \(code.rawValue))")
    }
  }
}
