import Base
import CP11Kit
import Cryptography
import Foundation
import TestSupport

@testable import PKCS11

/// A token of SoftHSM in a temporary folder. The suites that use it are skipped where SoftHSM is not installed.
struct SoftToken: Sendable {
  static let modulePath = "/usr/lib/softhsm/libsofthsm2.so"
  static let isInstalled = FileManager.default.fileExists(atPath: modulePath)
  /// One for this process: a module is initialised once in a process.
  static let shared = Task { try await SoftToken() }

  let module: TokenModule
  let pin = Self.secret("1234")

  private init() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(getpid())").path
    try FileManager.default.createDirectory(atPath: folder + "/tokens", withIntermediateDirectories: true)
    let configuration = folder + "/softhsm2.conf"
    try "directories.tokendir = \(folder)/tokens\nobjectstore.backend = file\nlog.level = ERROR\n".write(
      toFile: configuration, atomically: true, encoding: .utf8)
    setenv("SOFTHSM2_CONF", configuration, 1)
    let status = await Shell.run(
      "softhsm2-util --init-token --free --label mdoc --pin 1234 --so-pin 5678 > /dev/null")
    guard status == 0 else { throw NotMade() }
    module = try TokenModule.at(Self.modulePath)
  }

  struct NotMade: Error {}

  static func secret(_ text: String) -> SharedSecret { SharedSecret(SecretBytes(copying: Array(text.utf8))) }

  static func uri(_ object: String, _ more: String = "") throws -> TokenURI {
    try TokenURI("pkcs11:token=mdoc;object=\(object)\(more)")
  }

  @discardableResult func make(_ kind: TokenKeyKind, _ object: String, _ more: String = "") throws -> TokenEntry {
    try module.make(kind, Self.uri(object, more), pin: pin)
  }

  func key(_ object: String, for use: TokenKey.Use = .signing, pin: SharedSecret? = nil) throws -> TokenKey {
    try TokenKey(Self.uri(object), in: module, pin: pin ?? self.pin, for: use)
  }

  /// Makes an object with these attributes, as `pkcs11-tool --write-object` does.
  func write(_ object: String, _ attributes: [(CK_ATTRIBUTE_TYPE, Template.Value)]) throws {
    let label = Template.Value.bytes(Array(object.utf8))
    let template = Template([(CKA_TOKEN, .flag(true)), (CKA_LABEL, label)] + attributes)
    let named = try Self.uri(object)
    try module.enter(try Self.uri(object), pin: pin, mayWrite: true) { _, session throws(TokenError) in
      try module.reporting(named) { () throws(TokenModule.Failure) in
        var handle: CK_OBJECT_HANDLE = 0
        try template.use { attributes, count throws(TokenModule.Failure) in
          try module.call { $0.C_CreateObject?(session, attributes, count, &handle) }
        }
      }
    }
  }

  /// Destroys the private and public keys of this name.
  func destroy(_ object: String) throws {
    try module.enter(try Self.uri(object), pin: pin, mayWrite: true) { _, session throws(TokenError) in
      let objects = TokenObjects(module, session)
      for kind in [CKO_PRIVATE_KEY, CKO_PUBLIC_KEY] {
        for handle in (try? objects.find(kind, label: Array(object.utf8), id: nil)) ?? [] {
          try? module.call { $0.C_DestroyObject?(session, handle) }
        }
      }
    }
  }
}
