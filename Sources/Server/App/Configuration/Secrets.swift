import Base
import Cryptography
import Glibc
import Sessions

/// Reads secrets: a file's name, `{"file": "…"}` or `{"env": "NAME"}`. A private key may add a `passphrase`, itself a
/// secret.
extension ConfigurationFile {
  private var inVariable: Entry<Secret> {
    Entry(
      "env",
      Shape.nonEmptyString(like: "^[A-Za-z_][A-Za-z0-9_]*$").parsed { name, pointer, faults in
        let secret = environment.take(name)
        if secret == nil {
          faults.add(pointer, "the variable \(name) is not set, or empty; the server reads it when it starts")
        }
        return secret
      }, "The environment variable that holds it.")
  }

  private var secretFile: Shape<Secret> {
    Shape.nonEmptyString().parsed { name, pointer, faults in
      let path = resolve(name)
      faults.requireProtectedFolder(around: path, at: pointer)
      return faults.attempt(pointer) { () throws(SecretFile.ReadError) in
        Secret(name: path, isVariable: false, bytes: try SecretFile.read(path))
      } text: {
        $0.text(path)
      }
    }
  }

  private var inFile: Entry<Secret> { Entry("file", secretFile, "The file that holds it.") }

  private var passphrase: Entry<Secret?> {
    .ifAny("passphrase", secret, "The passphrase of an encrypted private key (PKCS #8).")
  }

  /// The name of a file, or an object that names a variable or a file.
  private func named<Value>(_ name: Shape<Value>, _ variable: Shape<Value>, _ file: Shape<Value>) -> Shape<Value> {
    .reading(.anyOf([name.schema, variable.schema, file.schema])) { json, pointer, faults in
      if json.string != nil { return name.read(json, pointer, &faults) }
      guard json["env"] != nil || json["file"] != nil else {
        faults.add(pointer, "must be a file's name, {\"file\": \"…\"} or {\"env\": \"NAME\"}")
        return nil
      }
      return (json["env"] != nil ? variable : file).read(json, pointer, &faults)
    }
  }

  var secret: Shape<Secret> {
    named(secretFile, .form("secret_variable", inVariable) { $1 }, .form("secret_file", inFile) { $1 })
  }

  /// The private key of a reader, on a curve that can sign.
  var signingKey: Shape<PrivateKey> {
    @Sendable func key(
      _ secret: Secret, _ passphrase: Secret?, _ pointer: String, _ faults: inout Faults
    ) -> PrivateKey? {
      secret.privateKey(passphrase, "private key for signatures", at: pointer, &faults) {
        $0.curve.family != .montgomery
      }
    }
    return named(
      secretFile.parsed { key($0, nil, $1, &$2) },
      .form("private_key_variable", inVariable, passphrase) { key($1, $2, $0.pointer, &$0.faults) },
      .form("private_key_file", inFile, passphrase) { key($1, $2, $0.pointer, &$0.faults) })
  }

  /// The private key of an Apple merchant, on P-256, and Apple's certificate for this key.
  var merchantKey: Shape<MerchantKey> {
    @Sendable func key(
      _ secret: Secret, _ passphrase: Secret?, _ certificate: Named?, _ pointer: String, _ faults: inout Faults
    ) -> MerchantKey? {
      secret.privateKey(passphrase, "P-256 private key", at: pointer, &faults) { $0.curve == .p256 }
        .map { MerchantKey(key: $0, certificate: certificate) }
    }
    let certificate = Entry<Named?>.ifAny(
      "certificate", file, "Apple's certificate of this key, PEM or DER: the server warns before it expires.")
    return named(
      secretFile.parsed { key($0, nil, nil, $1, &$2) },
      .form("merchant_key_variable", inVariable, passphrase, certificate) { key($1, $2, $3, $0.pointer, &$0.faults) },
      .form("merchant_key_file", inFile, passphrase, certificate) { key($1, $2, $3, $0.pointer, &$0.faults) })
  }

  struct MerchantKey: Sendable {
    let key: PrivateKey
    let certificate: Named?
  }

  /// Keys for data at rest: the first key seals, every key opens.
  var sealingKeys: Shape<[SealingKey]> {
    let key = Shape<SealingKey>.form(
      "sealing_key", Entry("id", Shape.nonEmptyString(), "1 to 64 bytes by which sealed data name their key."),
      Entry("file", keySecret, "32 bytes, raw or as hexadecimal or base64 text.")
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

  /// The 32 bytes of a sealing or evidence key.
  var keySecret: Shape<SharedSecret> {
    secret.parsed { secret, pointer, faults in
      // A variable with 32 characters holds typed text, not random bytes.
      guard !secret.isVariable || secret.bytes.count != SealingKey.length,
        let bytes = secret.bytes.withUnsafeBytes({ SealingKey.secret(in: $0) })
      else {
        faults.add(
          pointer, "\(secret.name) has neither 32 bytes nor their hex or base64 text; mdoc keys generate makes one")
        return nil
      }
      // 32 random bytes have fewer than 12 different values about once in 2⁸⁰.
      guard bytes.withUnsafeBytes({ Set($0).count }) >= 12 else {
        faults.add(pointer, "\(secret.name) holds a placeholder, not 32 random bytes")
        return nil
      }
      return SharedSecret(bytes)
    }
  }
}

extension Secret {
  fileprivate func privateKey(
    _ passphrase: Secret?, _ what: String, at pointer: String, _ faults: inout Faults, _ isGood: (PrivateKey) -> Bool
  ) -> PrivateKey? {
    do throws(CryptoError) {
      let key = try bytes.withUnsafeBytes { pem throws(CryptoError) in
        guard let passphrase else { return try PrivateKey(pem: pem) }
        return try PrivateKey(pem: pem, passphrase: passphrase.withoutLineEnd())
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
          "\(name) needs more than \(Limits.passphraseRounds) rounds to try a passphrase; encrypt it with fewer: "
            + "openssl pkcs8 -topk8 -iter 600000")
      default: faults.add(pointer, "\(name) is not a \(what) in PEM")
      }
    }
    return nil
  }
}

/// Takes each secret from the environment once, and keeps it for the next reading. Overwrites its bytes, so that
/// `/proc` no longer shows it. Removes the variable, so that no child process gets it.
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

  /// Ends access to the environment: other threads may read it, and `unsetenv` moves its strings.
  func close() { state.withLock { $0.isClosed = true } }
}

/// A secret with the name of its source.
final class Secret: Sendable {
  /// A path, or the name of a variable.
  let name: String
  /// False for a file.
  let isVariable: Bool
  let bytes: SecretBytes

  init(name: String, isVariable: Bool, bytes: consuming SecretBytes) {
    self.name = name
    self.isVariable = isVariable
    self.bytes = bytes
  }

  /// The secret as a passphrase, without the line end that an editor may have added.
  func withoutLineEnd() -> SecretBytes {
    bytes.withUnsafeBytes { bytes in
      var end = bytes.count
      if end > 0, bytes[end - 1] == UInt8(ascii: "\n") { end -= 1 }
      if end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      return SecretBytes(copying: bytes[..<end])
    }
  }
}

/// Reads a file that holds a secret. The memory for it is wiped after use. Refuses the file if other users could read
/// it.
enum SecretFile {
  enum ReadError: Error, Equatable {
    /// The reason, as human-readable text.
    case unreadable(String)
    case wrongSize
    /// The owner is neither root nor the server's user.
    case foreign
    /// The permissions let others read or change it.
    case open

    func text(_ path: String) -> String {
      switch self {
      case .unreadable(let reason): "the file \(path) cannot be read: \(reason)"
      case .wrongSize: "the file \(path) is empty or larger than 1 MiB"
      case .foreign: "the file \(path) belongs to another user; chown it to the server's user or to root"
      case .open: "others can read or write the file \(path); chmod 600 it"
      }
    }
  }

  /// Checks owner and permissions of the open file: a check by path could see another file than the one that is read.
  static func read(_ path: String) throws(ReadError) -> SecretBytes {
    // Without O_NONBLOCK, opening a pipe would block the start until another process writes to the pipe.
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

  /// Root's files may be group-readable: systemd's credentials (by their access list) and containers' secrets are.
  static func check(owner: uid_t, mode: mode_t, user: uid_t) throws(ReadError) {
    guard owner == user || owner == 0 else { throw .foreign }
    let refused = owner == 0 ? S_IWGRP | S_IRWXO : S_IRWXG | S_IRWXO
    guard mode & refused == 0 else { throw .open }
  }
}
