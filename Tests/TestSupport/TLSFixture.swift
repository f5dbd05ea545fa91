import Base
import COpenSSL
import Glibc

/// A TLS certificate for `localhost` from an authority made for the test, as PEM. OpenSSL makes both: a library target
/// cannot reach the mock's internals in a release build.
package struct TLSFixture: Sendable {
  package let certificate: [UInt8]
  package let key: [UInt8]
  package let authority: [UInt8]
  package let notAfter: Timestamp

  package init(name: String = "test authority", days: Int64 = 30) throws {
    let now = time(nil)
    notAfter = Timestamp(secondsSince1970: Int64(now) + days * 86_400)
    let root = try TLSCertificate(
      name, at: now, days: 365,
      extensions: [
        (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign"),
        (NID_subject_key_identifier, "hash"),
      ])
    let leaf = try TLSCertificate(
      "localhost", under: root, at: now, days: days,
      extensions: [
        (NID_key_usage, "critical,digitalSignature"), (NID_ext_key_usage, "serverAuth"),
        (NID_subject_alt_name, "DNS:localhost"),
      ])
    authority = try root.pem { PEM_write_bio_X509($0, root.certificate) }
    certificate = try leaf.pem { PEM_write_bio_X509($0, leaf.certificate) }
    key = try leaf.pem { PEM_write_bio_PrivateKey($0, leaf.key, nil, nil, 0, nil, nil) }
  }
}

/// A certificate on P-256 with its key, as OpenSSL holds them.
private final class TLSCertificate {
  enum Failure: Error { case openSSL }

  let certificate: OpaquePointer
  let key: OpaquePointer

  init(
    _ name: String, under issuer: TLSCertificate? = nil, at now: time_t, days: Int64,
    extensions: [(nid: Int32, value: String)]
  ) throws {
    let generator = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
    defer { EVP_PKEY_CTX_free(generator) }
    var made: OpaquePointer?
    guard EVP_PKEY_keygen_init(generator) == 1, EVP_PKEY_CTX_set_group_name(generator, "P-256") == 1,
      EVP_PKEY_keygen(generator, &made) == 1, let made, let certificate = X509_new()
    else { throw Failure.openSSL }
    key = made
    self.certificate = certificate
    let issuer = issuer ?? self
    let subject = X509_get_subject_name(certificate)
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1...UInt64(Int64.max)))
    ASN1_TIME_set(X509_getm_notBefore(certificate), now - 86_400)
    ASN1_TIME_set(X509_getm_notAfter(certificate), now + Int(days) * 86_400)
    X509_NAME_add_entry_by_NID(subject, NID_commonName, 0x1000, Array(name.utf8), Int32(name.utf8.count), -1, 0)
    X509_set_issuer_name(certificate, X509_get_subject_name(issuer.certificate))
    X509_set_pubkey(certificate, key)
    for (nid, value) in extensions {
      var context = X509V3_CTX()
      X509V3_set_ctx(&context, issuer.certificate, certificate, nil, nil, 0)
      guard let made = X509V3_EXT_conf_nid(nil, &context, nid, value) else { throw Failure.openSSL }
      X509_add_ext(certificate, made, -1)
      X509_EXTENSION_free(made)
    }
    guard X509_sign(certificate, issuer.key, EVP_sha256()) > 0 else { throw Failure.openSSL }
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(key)
  }

  func pem(_ write: (OpaquePointer) -> Int32) throws -> [UInt8] {
    guard let output = BIO_new(BIO_s_mem()) else { throw Failure.openSSL }
    defer { BIO_free(output) }
    guard write(output) == 1 else { throw Failure.openSSL }
    var text = [UInt8](repeating: 0, count: Int(BIO_ctrl_pending(output)))
    guard BIO_read(output, &text, Int32(text.count)) == text.count else { throw Failure.openSSL }
    return text
  }
}

/// Sends one request over TLS by OpenSSL, and reads to the end. It blocks, so use it through `blocking`.
package struct TLSClient: Sendable {
  package enum Failure: Error, Equatable { case noContext, noConnection, noHandshake }

  package struct Answer: Sendable {
    package let version: String
    package let cipher: String
    /// OpenSSL's number of the group that the key was agreed on (`NID_X25519`).
    package let group: Int32
    package let text: String
  }

  package let port: UInt16
  /// PEM; the server's certificate must be for `localhost`.
  package let authority: [UInt8]
  package var versions: ClosedRange<Int32>
  /// Groups for key agreement in the client's order of preference: names joined by `:`. Nil for OpenSSL's default list.
  package var groups: String?
  /// Whether it requests another handshake first (TLS 1.2).
  package var renegotiates = false

  package init(
    port: UInt16, authority: [UInt8], versions: ClosedRange<Int32> = TLS1_2_VERSION...TLS1_3_VERSION
  ) {
    self.port = port
    self.authority = authority
    self.versions = versions
  }

  package func ask(_ request: String) throws -> Answer {
    guard let context = SSL_CTX_new(TLS_client_method()), let file = tmpfile() else { throw Failure.noContext }
    defer {
      SSL_CTX_free(context)
      fclose(file)
    }
    // OpenSSL offers old versions only below level 1; the server must then refuse them.
    SSL_CTX_set_security_level(context, 0)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(versions.lowerBound), nil)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(versions.upperBound), nil)
    fwrite(authority, 1, authority.count, file)
    fflush(file)
    SSL_CTX_load_verify_file(context, "/proc/self/fd/\(fileno(file))")
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    guard let tls = SSL_new(context) else { throw Failure.noContext }
    defer { SSL_free(tls) }
    groups?.withCString { _ = SSL_ctrl(tls, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: $0)) }
    let socket = try connection()
    defer { close(socket) }
    guard SSL_set1_host(tls, "localhost") == 1, SSL_set_fd(tls, socket) == 1, SSL_connect(tls) == 1 else {
      throw Failure.noHandshake
    }
    if renegotiates, SSL_renegotiate(tls) == 1 { SSL_do_handshake(tls) }
    let bytes = Array(request.utf8)
    guard SSL_write(tls, bytes, Int32(bytes.count)) == bytes.count else { throw Failure.noConnection }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = SSL_read(tls, &chunk, Int32(chunk.count))
      guard count > 0 else { break }
      text += chunk[..<Int(count)]
    }
    return Answer(
      version: String(cString: SSL_get_version(tls)),
      cipher: SSL_get_current_cipher(tls).flatMap { SSL_CIPHER_get_name($0) }.map { String(cString: $0) } ?? "",
      group: Int32(truncatingIfNeeded: SSL_ctrl(tls, SSL_CTRL_GET_NEGOTIATED_GROUP, 0, nil)),
      text: String(decoding: text, as: UTF8.self))
  }

  private func connection() throws -> Int32 {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else {
      close(socket)
      throw Failure.noConnection
    }
    return socket
  }
}
