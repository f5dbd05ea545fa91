import Base
import Cryptography
import Glibc
import PKCS11
import Sessions

/// Reads secrets. A secret is configured as a file's name, `{"file": "…"}`, `{"env": "NAME"}` or `{"credential":
/// "NAME"}`. A private key may add a `passphrase`, itself a secret. A key may be in a PKCS #11 token. It is then
/// configured by its name or as `{"pkcs11": "…", "pin": …}`.
extension ConfigurationFile {
  /// The sources of a secret. Each raw value is a member's name.
  private enum Source: String, CaseIterable {
    case variable = "env"
    case file, credential
    case token = "pkcs11"

    static let plain = [variable, file, credential]
  }

  /// The member that specifies the secret's source.
  private func place(_ source: Source) -> Entry<Secret> {
    let (form, text): (Shape<Secret>, String) =
      switch source {
      case .variable: (variable, "The name of the environment variable.")
      case .file: (secretFile, "The path of the file.")
      case .credential: (credential, "The name of the systemd credential, a file in `$CREDENTIALS_DIRECTORY`.")
      case .token: (tokenName, "Its name in a PKCS #11 token (RFC 7512).")
      }
    return Entry(source.rawValue, form, text)
  }

  /// The member with the secret that unlocks a key.
  private func opener(_ source: Source) -> Entry<Secret?> {
    source == .token
      ? .ifAny("pin", secret, "The token's PIN, unless its name has `pin-source`.")
      : .ifAny("passphrase", secret, "The passphrase of an encrypted private key (PKCS #8).")
  }

  private var variable: Shape<Secret> {
    Shape.nonEmptyString(like: "^[A-Za-z_][A-Za-z0-9_]*$").parsed { name, pointer, faults in
      let secret = environment.take(name)
      if secret == nil {
        faults.add(pointer, "the variable \(name) is not set or is empty; the server reads it only when it starts")
      }
      return secret
    }
  }

  private var secretFile: Shape<Secret> {
    Shape.nonEmptyString().parsed { name, pointer, faults in
      guard !name.hasPrefix(TokenURI.scheme) else {
        faults.add(pointer, "cannot be in a PKCS #11 token; use a file")
        return nil
      }
      return contents(ofSecret: resolve(name), at: pointer, &faults)
    }
  }

  private var credential: Shape<Secret> {
    Shape.nonEmptyString(like: "^[^/]+$").parsed { name, pointer, faults in
      guard let folder = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }), !name.contains("/"),
        name != "..", name != "."
      else {
        faults.add(pointer, "must be the name, without a slash, of a credential that systemd passes (LoadCredential=)")
        return nil
      }
      return contents(ofSecret: folder + "/" + name, at: pointer, &faults)
    }
  }

  private func contents(ofSecret path: String, at pointer: String, _ faults: inout Faults) -> Secret? {
    faults.requireProtectedFolder(around: path, at: pointer)
    return faults.attempt(pointer) { () throws(SecretFile.ReadError) in
      Secret(name: path, isVariable: false, bytes: try SecretFile.read(path))
    } text: {
      $0.text(path)
    }
  }

  private var tokenName: Shape<Secret> {
    Shape.nonEmptyString(like: "^pkcs11:.+$").parsed { text, pointer, faults in
      faults.attempt(pointer) { () throws(TokenError) in
        try Secret(in: TokenURI(text))
      } text: {
        $0.detail
      }
    }
  }

  /// A file's name, or the `pkcs11:` URI of a key in a token.
  private var keyName: Shape<Secret> {
    .reading(secretFile.schema) { json, pointer, faults in
      let isToken = json.string?.hasPrefix(TokenURI.scheme) ?? false
      return (isToken ? tokenName : secretFile).read(json, pointer, &faults)
    }
  }

  /// A name, or an object with a member that specifies the secret's source.
  private func named<Value>(
    _ name: Shape<Value>, _ sources: [Source], _ form: (Source) -> Shape<Value>
  ) -> Shape<Value> {
    let forms = sources.map { ($0.rawValue, form($0)) }
    return .reading(.anyOf([name.schema] + forms.map(\.1.schema))) { json, pointer, faults in
      if json.string != nil { return name.read(json, pointer, &faults) }
      guard let form = forms.first(where: { json[$0.0] != nil }) else {
        let names = forms.map { "{\"\($0.0)\": \"…\"}" }.alternatives
        faults.add(pointer, "must be a file's name, or \(names)")
        return nil
      }
      return form.1.read(json, pointer, &faults)
    }
  }

  var secret: Shape<Secret> {
    named(secretFile, Source.plain) { .form("secret_\($0)", place($0)) { $1 } }
  }

  /// The private key of a reader, on a curve that supports signatures.
  var signingKey: Shape<PrivateKey> {
    @Sendable func key(
      _ secret: Secret, _ opener: Secret?, _ pointer: String, _ faults: inout Faults
    ) -> PrivateKey? {
      privateKey(secret, opener, for: .signing, "private key for signatures", at: pointer, &faults) {
        $0.curve.family != .montgomery
      }
    }
    return named(keyName.parsed { key($0, nil, $1, &$2) }, Source.allCases) {
      .form("private_key_\($0)", place($0), opener($0)) { key($1, $2, $0.pointer, &$0.faults) }
    }
  }

  /// The private key of an Apple merchant, on P-256, and Apple's certificate for this key.
  var merchantKey: Shape<MerchantKey> {
    @Sendable func key(
      _ secret: Secret, _ opener: Secret?, _ certificate: Named?, _ pointer: String, _ faults: inout Faults
    ) -> MerchantKey? {
      privateKey(secret, opener, for: .agreement, "P-256 private key", at: pointer, &faults) { $0.curve == .p256 }
        .map { MerchantKey(key: $0, certificate: certificate) }
    }
    let certificate = Entry<Named?>.ifAny(
      "certificate", file, "Apple's certificate of this key, PEM or DER. The server warns before it expires.")
    return named(keyName.parsed { key($0, nil, nil, $1, &$2) }, Source.allCases) {
      .form("merchant_key_\($0)", place($0), opener($0), certificate) { key($1, $2, $3, $0.pointer, &$0.faults) }
    }
  }

  struct MerchantKey: Sendable {
    let key: PrivateKey
    let certificate: Named?
  }

  /// Keys for data at rest. The first key encrypts, and any key decrypts.
  var sealingKeys: Shape<[SealingKey]> {
    let key = Shape<SealingKey>.form(
      "sealing_key", Entry("id", Shape.nonEmptyString(), "1 to 64 bytes. Sealed data identify their key by this id."),
      Entry("file", keySecret, "32 bytes, raw or as hexadecimal or base64 text, or a secret key in a token.")
    ) { place, id, key in
      place.faults.attempt(place.pointer + "/id") {
        try SealingKey(id: id, key: key.bytes.withUnsafeBytes { SecretBytes(copying: $0) })
      }
    }
    return key.list(atLeast: 1).parsed { keys, pointer, faults in
      faults.noteDuplicates(keys.map(\.id), at: pointer, "/id")
      return keys
    }
  }

  /// The 32 bytes of a sealing or evidence key. For a key in a token, they are derived once.
  var keySecret: Shape<SharedSecret> {
    @Sendable func key(_ secret: Secret, _ pin: Secret?, _ pointer: String, _ faults: inout Faults) -> SharedSecret? {
      if let uri = secret.token {
        return inToken(uri, pin, at: pointer, &faults) { module, pin throws(TokenError) in
          try TokenSecret.derive(by: uri, in: module, pin: pin)
        }
      }
      return bytes(of: secret, pointer, &faults)
    }
    return named(keyName.parsed { key($0, nil, $1, &$2) }, Source.allCases) { source in
      source == .token
        ? .form("secret_key_token", place(source), opener(source)) { key($1, $2, $0.pointer, &$0.faults) }
        : .form("secret_\(source)", place(source)) { key($1, nil, $0.pointer, &$0.faults) }
    }
  }

  private func bytes(of secret: Secret, _ pointer: String, _ faults: inout Faults) -> SharedSecret? {
    // A variable of 32 characters contains typed text, not random bytes.
    guard !secret.isVariable || secret.bytes.count != SealingKey.length,
      let bytes = secret.bytes.withUnsafeBytes({ SealingKey.secret(in: $0) })
    else {
      faults.add(
        pointer, "\(secret.name) has neither 32 bytes nor their hex or base64 text; mdoc keys generate makes one")
      return nil
    }
    // The chance that 32 random bytes have fewer than 12 different values is about 1 in 2⁸⁰.
    guard bytes.withUnsafeBytes({ Set($0).count }) >= 12 else {
      faults.add(pointer, "\(secret.name) contains a placeholder, not 32 random bytes")
      return nil
    }
    return SharedSecret(bytes)
  }
}

// MARK: Private keys

extension ConfigurationFile {
  var tokenModuleEntry: Entry<String?> {
    .ifAny(
      "pkcs11_module",
      Shape.nonEmptyString(like: "^/.+$").parsed("must be an absolute path") { $0.hasPrefix("/") ? $0 : nil },
      "The PKCS #11 module for keys whose names have no `module-path`.")
  }

  /// Reads a key in a token. The module's code runs in this process. Only root and the server's user may have write
  /// access to it.
  private func inToken<Value>(
    _ uri: TokenURI, _ pin: Secret?, at pointer: String, _ faults: inout Faults,
    _ use: (TokenModule, SharedSecret?) throws(TokenError) -> Value
  ) -> Value? {
    guard let path = uri.modulePath ?? tokenModule else {
      faults.add(pointer, "\(uri.path) has no module; set pkcs11_module, or add module-path=/path")
      return nil
    }
    let before = faults.all.count
    faults.requireProtection(of: path, at: pointer)
    let given = pin ?? uri.pinFile.flatMap { contents(ofSecret: $0, at: pointer, &faults) }
    // Do not load a module that other users can change.
    guard faults.all.count == before else { return nil }
    do throws(TokenError) {
      return try use(TokenModule.at(path), given.map { SharedSecret($0.bytes.withoutLineEnd()) })
    } catch {
      faults.add(pointer, error.detail)
      if error.isTemporary { passing.withLock { _ = $0.insert(InputError(pointer, error.detail)) } }
      return nil
    }
  }

  private func privateKey(
    _ secret: Secret, _ opener: Secret?, for use: TokenKey.Use, _ what: String, at pointer: String,
    _ faults: inout Faults, _ isGood: (PrivateKey) -> Bool
  ) -> PrivateKey? {
    guard let uri = secret.token else {
      return secret.privateKey(opener, what, at: pointer, &faults, isGood)
    }
    let key = inToken(uri, opener, at: pointer, &faults) { module, pin throws(TokenError) in
      try TokenKey(uri, in: module, pin: pin, for: use)
    }
    guard let key else { return nil }
    if key.isExtractable {
      faults.warn("\(uri.path) is extractable (CKA_EXTRACTABLE); make a key that cannot leave its token")
    }
    if isGood(PrivateKey(key)) { return PrivateKey(key) }
    faults.add(pointer, "\(uri.path) is not a \(what)")
    return nil
  }
}

extension Secret {
  fileprivate func privateKey(
    _ passphrase: Secret?, _ what: String, at pointer: String, _ faults: inout Faults, _ isGood: (PrivateKey) -> Bool
  ) -> PrivateKey? {
    do throws(CryptoError) {
      let key = try bytes.withUnsafeBytes { pem throws(CryptoError) in
        guard let passphrase else { return try PrivateKey(pem: pem) }
        return try PrivateKey(pem: pem, passphrase: passphrase.bytes.withoutLineEnd())
      }
      if isGood(key) { return key }
      faults.add(pointer, "\(name) is not a \(what) in PEM")
    } catch {
      switch error {
      case .passphraseRequired:
        faults.add(pointer, "\(name) is encrypted; give {\"file\": \"…\", \"passphrase\": {\"env\": \"NAME\"}}")
      case .passphraseWrong:
        faults.add(pointer + "/passphrase", "does not decrypt \(name): the wrong passphrase, or a damaged key")
      case .passphraseTooCostly:
        faults.add(
          pointer,
          "\(name) takes more than \(Limits.passphraseRounds) rounds to check a passphrase; encrypt it with fewer: "
            + "openssl pkcs8 -topk8 -iter 600000")
      default: faults.add(pointer, "\(name) is not a \(what) in PEM")
      }
    }
    return nil
  }
}

/// Reads each secret from the environment once, and stores it for later reloads. Overwrites the variable's bytes, so
/// that `/proc` no longer shows them. Removes the variable, so that no child process gets it.
final class EnvironmentSecrets: Sendable {
  private struct State {
    var taken: [String: Secret] = [:]
    var isClosed = false
  }

  private let state = Locked(State())

  func take(_ name: String) -> Secret? {
    state.withLock { state in
      if let secret = state.taken[name] { return secret }
      guard !state.isClosed, let value = getenv(name), value.pointee != 0 else { return nil }
      let content = UnsafeMutableRawBufferPointer(start: value, count: strlen(value))
      let secret = Secret(name: name, isVariable: true, bytes: SecretBytes(copying: content))
      explicit_bzero(value, content.count)
      unsetenv(name)
      state.taken[name] = secret
      return secret
    }
  }

  /// Ends access to the environment. `unsetenv` moves strings that other threads may be reading.
  func close() { state.withLock { $0.isClosed = true } }
}

/// A secret with the name of its source, or the name of a key in a token.
final class Secret: Sendable {
  /// A path, or the name of a variable.
  let name: String
  /// True for an environment variable; false for a file.
  let isVariable: Bool
  let bytes: SecretBytes
  /// The name of a key in a token; nil if `bytes` contains the secret.
  let token: TokenURI?

  init(name: String, isVariable: Bool, bytes: consuming SecretBytes) {
    self.name = name
    self.isVariable = isVariable
    self.bytes = bytes
    token = nil
  }

  init(in token: TokenURI) {
    name = token.path
    isVariable = false
    bytes = SecretBytes(copying: [UInt8]())
    self.token = token
  }

}

extension SecretBytes {
  /// A passphrase or PIN, without the line end that an editor may have added.
  package borrowing func withoutLineEnd() -> SecretBytes {
    withUnsafeBytes { bytes in
      var end = bytes.count
      if end > 0, bytes[end - 1] == UInt8(ascii: "\n") { end -= 1 }
      if end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      return SecretBytes(copying: bytes[..<end])
    }
  }
}

/// Reads a secret from a file. The secret's memory is wiped after use. Refuses the file if other users could read it.
package enum SecretFile {
  package enum ReadError: Error, Equatable {
    /// The reason, as human-readable text.
    case unreadable(String)
    case wrongSize
    /// The owner is neither root nor the server's user.
    case foreign
    /// The permissions let others read or change it.
    case open

    package func text(_ path: String) -> String {
      switch self {
      case .unreadable(let reason): "the file \(path) cannot be read: \(reason)"
      case .wrongSize: "the file \(path) is empty or larger than 1 MiB"
      case .foreign: "the file \(path) belongs to another user; chown it to the server's user or to root"
      case .open: "the file \(path) is accessible to others; chmod 600 it"
      }
    }
  }

  /// Checks the owner and permissions of the open file. A check by path can examine a different file from the one that
  /// is read.
  package static func read(_ path: String) throws(ReadError) -> SecretBytes {
    // Without O_NONBLOCK, opening a pipe blocks the start until another process writes to the pipe.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unreadable(FileFault.reason(errno)) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .unreadable(FileFault.reason(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .unreadable(status.st_mode & S_IFMT == S_IFDIR ? FileFault.reason(EISDIR) : "is not a regular file")
    }
    try check(owner: status.st_uid, mode: status.st_mode, user: geteuid())
    guard (1...(1 << 20)).contains(status.st_size) else { throw .wrongSize }
    do throws(CryptoError) {
      return try SecretBytes(count: Int(status.st_size)) { buffer throws(CryptoError) in
        var filled = 0
        while filled < buffer.count {
          let count = Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { throw .libraryFailure }
          filled += count
        }
      }
    } catch {
      throw .unreadable("it is truncated, or memory is exhausted")
    }
  }

  /// A file of root may be group-readable. This is the case for systemd's credentials (through their access list) and
  /// containers' secrets.
  static func check(owner: uid_t, mode: mode_t, user: uid_t) throws(ReadError) {
    guard owner == user || owner == 0 else { throw .foreign }
    let refused = owner == 0 ? S_IWGRP | S_IRWXO : S_IRWXG | S_IRWXO
    guard mode & refused == 0 else { throw .open }
  }
}
