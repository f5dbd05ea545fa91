import Base
import CMicrohttpd
import Cryptography
import Glibc

/// The certificate and key that a server presents. They can be replaced while the server runs. libmicrohttpd's callback
/// gets no context from the caller. Each of its threads serves one server, and therefore stores a pointer to that
/// server's identities.
// Sendable by use: `slot` and the handles are pointers that are written once. Only GnuTLS reads the memory behind these
// pointers. It may use keys and certificates on any number of threads as long as they are not changed.
package final class TLSIdentities: @unchecked Sendable {
  /// TLS 1.2 and 1.3 with ephemeral elliptic-curve keys and authenticated ciphers only (RFC 9325, 4.2), fastest first.
  package static let priorities =
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305"
    + ":-MAC-ALL:+AEAD:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA"
    + ":-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+GROUP-X448:+GROUP-SECP521R1:%SERVER_PRECEDENCE"

  /// The certificate and key cannot be used. The reason comes from GnuTLS and reveals nothing about the key.
  package struct LoadError: Error, Sendable, Hashable { package let reason: String }

  private struct State {
    // Sendable by use: see the class.
    nonisolated(unsafe) var current: UnsafeMutablePointer<mdoc_tls_identity>
    /// Former identities. GnuTLS does not report when it has finished with an identity, so each identity lives as long
    /// as this object.
    nonisolated(unsafe) var former: [UnsafeMutablePointer<mdoc_tls_identity>] = []
    var expiry: Timestamp
  }

  private let state: Locked<State>

  /// - Parameters:
  ///   - certificate: PEM, the leaf first.
  ///   - key: PEM, not encrypted.
  package init(certificate: [UInt8], key: borrowing SecretBytes) throws(LoadError) {
    let (identity, expiry) = try Self.load(certificate, key)
    state = Locked(State(current: identity, expiry: expiry))
  }

  deinit {
    state.withLock { state in
      for identity in state.former + [state.current] { mdoc_tls_free(identity) }
    }
  }

  package var expiry: Timestamp { state.withLock { $0.expiry } }

  /// Presents another certificate from now on. If the new certificate is unusable, the previous one stays in use.
  package func replace(certificate: [UInt8], key: borrowing SecretBytes) throws(LoadError) {
    let (identity, expiry) = try Self.load(certificate, key)
    // Sendable by use: from here on only the state refers to it.
    nonisolated(unsafe) let handle = identity
    state.withLock { state in
      state.former.append(state.current)
      state.current = handle
      state.expiry = expiry
    }
  }

  private static func load(
    _ certificate: [UInt8], _ key: borrowing SecretBytes
  ) throws(LoadError) -> (UnsafeMutablePointer<mdoc_tls_identity>, Timestamp) {
    var code: Int32 = 0
    let loaded = key.withUnsafeBytes { key in
      mdoc_tls_load(certificate, certificate.count, key.baseAddress, key.count, &code)
    }
    guard let identity = loaded else { throw LoadError(reason: String(cString: gnutls_strerror(code))) }
    return (identity, Timestamp(secondsSince1970: mdoc_tls_expiry(certificate, certificate.count)))
  }

  // MARK: On libmicrohttpd's threads

  /// One thread-specific slot for the identities of the thread's server.
  private static let slot: pthread_key_t = {
    var key = pthread_key_t()
    let code = pthread_key_create(&key, nil)
    // A process can create 1024 such keys. This code creates only one.
    precondition(code == 0, "no thread-specific data for TLS")
    return key
  }()

  /// Makes this thread present these identities. The server's core retains these identities and outlives the server's
  /// threads.
  package func useOnThisThread() { pthread_setspecific(Self.slot, Unmanaged.passUnretained(self).toOpaque()) }

  package static let onCertificate:
    @convention(c) (
      gnutls_session_t?, UnsafePointer<gnutls_cert_retr_st>?,
      UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, UnsafeMutablePointer<UInt32>?,
      UnsafeMutablePointer<UnsafeMutablePointer<gnutls_ocsp_data_st>?>?, UnsafeMutablePointer<UInt32>?,
      UnsafeMutablePointer<gnutls_privkey_t?>?, UnsafeMutablePointer<UInt32>?
    ) -> Int32 = { _, _, certificates, count, stapled, stapledCount, key, flags in
      guard let raw = pthread_getspecific(TLSIdentities.slot), let certificates, let count, let key else { return -1 }
      Unmanaged<TLSIdentities>.fromOpaque(raw).takeUnretainedValue().state.withLock { state in
        // The chain is the structure's first member.
        certificates.pointee = UnsafeMutableRawPointer(state.current).assumingMemoryBound(to: gnutls_pcert_st.self)
        count.pointee = state.current.pointee.length
        key.pointee = state.current.pointee.key
      }
      stapled?.pointee = nil
      stapledCount?.pointee = 0
      flags?.pointee = 0
      return 0
    }
}
