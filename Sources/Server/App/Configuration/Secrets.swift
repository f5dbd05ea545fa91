import Base
import Cryptography
import Glibc

/// Secrets, as the configuration has them: a file's name, `{"file": "…"}` or `{"env": "NAME"}`; a private key's may have
/// a `passphrase` beside, which is a secret again.
struct ConfiguredSecrets {
  let file: ConfigurationFile
  let environment: EnvironmentSecrets

  /// A private key's bytes, with what decrypts them.
  struct Key {
    let secret: Secret
    let passphrase: Secret?
  }

  func secret(_ json: JSON, at pointer: String) throws(Schema.Fault) -> Secret {
    if let name = json.string { return try content(of: name, at: pointer) }
    return try place(json, at: pointer, ConfigurationSchema.variable, ConfigurationSchema.secretFile).secret
  }

  /// The schemas, of a variable and of a file, may have members beside, which are the caller's to read.
  func key(
    _ json: JSON, at pointer: String, in variable: Schema.Member = ConfigurationSchema.encryptedVariable,
    _ file: Schema.Member = ConfigurationSchema.encryptedFile
  ) throws(Schema.Fault) -> Key {
    if let name = json.string { return Key(secret: try content(of: name, at: pointer), passphrase: nil) }
    let (secret, entry) = try place(json, at: pointer, variable, file)
    guard let phrase = entry.value("passphrase") else { return Key(secret: secret, passphrase: nil) }
    return Key(secret: secret, passphrase: try self.secret(phrase, at: pointer + "/passphrase"))
  }

  private func place(
    _ json: JSON, at pointer: String, _ variable: Schema.Member, _ named: Schema.Member
  ) throws(Schema.Fault) -> (secret: Secret, entry: Schema.Object) {
    guard let members = json.object, members.contains(where: { $0.name == "env" || $0.name == "file" }) else {
      throw Schema.Fault(pointer, "must be a file's name, {\"file\": \"…\"} or {\"env\": \"NAME\"}")
    }
    let isVariable = members.contains { $0.name == "env" }
    let entry = try Schema.Object(
      json, at: pointer, by: (isVariable ? variable : named).schema, in: file.reading)
    guard isVariable else { return (try content(of: entry.text("file"), at: pointer + "/file"), entry) }
    let name = try entry.text("env")
    guard let secret = environment.take(name) else {
      throw entry.fault("env", "the variable \(name) is not set, or empty; it is read when the server starts")
    }
    return (secret, entry)
  }

  private func content(of name: String, at pointer: String) throws(Schema.Fault) -> Secret {
    guard !name.isEmpty else { throw Schema.Fault(pointer, "must be a file's name") }
    let path = file.resolve(name)
    file.requireProtectedFolder(around: path, at: pointer)
    do throws(SecretFile.Problem) {
      return Secret(name: path, isVariable: false, bytes: try SecretFile.read(path))
    } catch {
      throw Schema.Fault(pointer, error.text(path))
    }
  }
}

/// Secrets that the configuration takes from the environment: `{"env": "NAME"}`.
///
/// Each is taken once: its bytes are overwritten, so that `/proc` no longer shows them, and the variable is removed, so
/// that nothing the process starts or logs has it. What was taken stays here, for the next reading of the file.
final class EnvironmentSecrets: Sendable {
  private struct State {
    var taken: [String: Secret] = [:]
    var isClosed = false
  }

  private let state = Locked(State())

  /// Nil where there is no such variable, or where it is empty.
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

  /// From now on the environment is left alone: other threads may read it, and `unsetenv` moves what they read.
  func close() { state.withLock { $0.isClosed = true } }
}
