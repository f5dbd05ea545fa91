import App
import Base
import Cryptography
import PKCS11

/// A token that an argument identifies, with its module and PIN.
struct OpenToken {
  let uri: TokenURI
  let module: TokenModule
  let pin: SharedSecret?

  /// - Parameter module: the module's path, if the token's URI has no `module-path`.
  init(_ text: String, module path: String? = nil) throws(Failure) {
    let uri = try Self.attempt { () throws(TokenError) in try TokenURI(text) }
    guard let path = uri.modulePath ?? path else {
      throw .usage("\(uri.path): which module? Add module-path=/path to the name")
    }
    module = try Self.attempt { () throws(TokenError) in try TokenModule.at(path) }
    pin = try uri.pinFile.map { file throws(Failure) in
      do throws(SecretFile.ReadError) { return SharedSecret(try SecretFile.read(file).withoutLineEnd()) } catch {
        throw .unreadable("PIN: \(error.text(file))")
      }
    }
    self.uri = uri
  }

  /// True if the text names a key in a token, not a file.
  static func isName(_ text: String) -> Bool { text.hasPrefix(TokenURI.scheme) }

  func attempt<Value>(_ body: () throws(TokenError) -> Value) throws(Failure) -> Value { try Self.attempt(body) }

  private static func attempt<Value>(_ body: () throws(TokenError) -> Value) throws(Failure) -> Value {
    do throws(TokenError) { return try body() } catch { throw .unreadable(error.detail) }
  }
}
