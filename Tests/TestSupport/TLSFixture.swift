import Base
import COpenSSL
import Cryptography
import Glibc
import PKIX

@testable import Mock

/// A TLS certificate for `localhost` from an authority made for the test, as PEM.
package struct TLSFixture: Sendable {
  package let certificate: [UInt8]
  package let key: [UInt8]
  package let authority: [UInt8]
  package let notAfter: Timestamp

  package init(name: String = "test authority", days: Int64 = 30) throws {
    let now = Timestamp(secondsSince1970: Int64(time(nil)))
    let issuer = CertificateIssuer(
      name: CertificateName(country: "US", state: nil, organization: nil, commonName: name),
      key: try PrivateKey(generatingOn: .p256))
    let leafKey = try PrivateKey(generatingOn: .p256)
    let root = CertificateTemplate(
      issuer: issuer.name, notBefore: now - 86_400, notAfter: now + 365 * 86_400, subject: issuer.name,
      publicKeyInfo: SubjectPublicKeyInfo.der(of: issuer.key.publicKey),
      extensions: [
        .basicConstraints(isCA: true, pathLength: 0), .keyUsage(.keyCertSign),
        .subjectKeyIdentifier(issuer.keyIdentifier),
      ])
    notAfter = now + days * 86_400
    let names = DER.sequence(DER.implicit(2, Array("localhost".utf8)))
    let leaf = CertificateTemplate(
      issuer: issuer.name, notBefore: now - 86_400, notAfter: notAfter,
      subject: CertificateName(country: "US", state: nil, organization: nil, commonName: "localhost"),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: leafKey.publicKey),
      extensions: [
        .keyUsage(.digitalSignature), .extendedKeyUsage(["1.3.6.1.5.5.7.3.1"], isCritical: false),
        CertificateExtension(oid: "2.5.29.17", isCritical: false, value: names),
      ])
    authority = Array(PEM.encode(certificate: try root.signed(by: issuer.key)).utf8)
    certificate = Array(PEM.encode(certificate: try leaf.signed(by: issuer.key)).utf8)
    key = try leafKey.pem()
  }
}

/// Asks once over TLS, as OpenSSL does, and reads to the end. It blocks, so that it is used through `blocking`.
package struct TLSClient: Sendable {
  package enum Failure: Error, Equatable { case noContext, noConnection, noHandshake }

  package struct Answer: Sendable {
    package let version: String
    package let cipher: String
    package let text: String
  }

  package let port: UInt16
  /// PEM; the server must be `localhost` to it.
  package let authority: [UInt8]
  package var versions: ClosedRange<Int32>

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
    // Below level 1 OpenSSL offers old versions at all, so that it is the server who refuses them.
    SSL_CTX_set_security_level(context, 0)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(versions.lowerBound), nil)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(versions.upperBound), nil)
    fwrite(authority, 1, authority.count, file)
    fflush(file)
    SSL_CTX_load_verify_file(context, "/proc/self/fd/\(fileno(file))")
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    guard let tls = SSL_new(context) else { throw Failure.noContext }
    defer { SSL_free(tls) }
    let socket = try connection()
    defer { close(socket) }
    guard SSL_set1_host(tls, "localhost") == 1, SSL_set_fd(tls, socket) == 1, SSL_connect(tls) == 1 else {
      throw Failure.noHandshake
    }
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
