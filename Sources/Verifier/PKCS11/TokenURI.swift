import Base
import CP11Kit
import Glibc

/// The name of a key in a token (RFC 7512): `pkcs11:token=mdoc;object=reader-1?pin-source=file:/run/credentials/…`.
///
/// The attributes of module, slot, token and object are read from the path; `module-path` and `pin-source` are read
/// from the query. A PIN in the name itself is refused, since names appear in configurations, process lists and logs.
public final class TokenURI: Sendable {
  public static let scheme = "pkcs11:"

  // The pointer is set once and only read. libp11-kit changes nothing in it after parsing.
  nonisolated(unsafe) let pointer: OpaquePointer
  /// The path without the query, which suffices to recognise the key in messages.
  public let path: String
  /// The absolute path of the token's module.
  public let modulePath: String?
  /// The absolute path of the PIN's file.
  public let pinFile: String?

  public init(_ text: String) throws(TokenError) {
    guard let pointer = p11_kit_uri_new() else { throw .refused("memory is exhausted") }
    self.pointer = pointer
    path = String(text.prefix { $0 != "?" })
    let status = p11_kit_uri_parse(text, P11_KIT_URI_FOR_ANY, pointer)
    let module = p11_kit_uri_get_module_path(pointer).map { String(cString: $0) }
    let source = p11_kit_uri_get_pin_source(pointer).map { String(cString: $0) }
    modulePath = module
    pinFile = source.map { $0.hasPrefix("file:") ? String($0.dropFirst("file:".count)) : $0 }
    let fault: String? =
      if status != P11_KIT_URI_OK.rawValue {
        "is not a valid pkcs11: URI (RFC 7512): \(String(cString: p11_kit_uri_message(status)))"
      } else if p11_kit_uri_any_unrecognized(pointer) != 0 {
        "has an attribute that RFC 7512 does not define"
      } else if p11_kit_uri_get_pin_value(pointer) != nil {
        "holds the PIN itself (pin-value), which others could read; use pin-source=file:/path"
      } else if p11_kit_uri_get_module_name(pointer) != nil {
        "has module-name, which is unsupported; use module-path=/path"
      } else if let module, !module.hasPrefix("/") {
        "has a module-path that is not absolute"
      } else if let pinFile, !pinFile.hasPrefix("/") || pinFile.hasPrefix("//") {
        "has a pin-source that is not an absolute path; use pin-source=file:/path"
      } else {
        nil
      }
    if let fault { throw .refused("\(path) \(fault)") }
  }

  deinit { p11_kit_uri_free(pointer) }

  /// `object` and `id`; nil for an attribute that the name lacks.
  var label: [UInt8]? { attribute(CKA_LABEL) }
  var id: [UInt8]? { attribute(CKA_ID) }

  func attribute(_ type: CK_ATTRIBUTE_TYPE) -> [UInt8]? {
    guard let found = p11_kit_uri_get_attribute(pointer, type) else { return nil }
    return Array(UnsafeRawBufferPointer(start: found.pointee.pValue, count: Int(found.pointee.ulValueLen)))
  }

  /// Whether `slot-id` and the token's attributes are those of this slot.
  func isOf(_ slot: CK_SLOT_ID, _ token: inout CK_TOKEN_INFO) -> Bool {
    let wanted = p11_kit_uri_get_slot_id(pointer)
    return (wanted == .max || wanted == slot) && p11_kit_uri_match_token_info(pointer, &token) == 1
  }

  /// The name of an object in a token, without a query.
  static func path(of token: CK_TOKEN_INFO, label: [UInt8], id: [UInt8]) -> String? {
    guard let uri = p11_kit_uri_new() else { return nil }
    defer { p11_kit_uri_free(uri) }
    p11_kit_uri_get_token_info(uri)?.pointee = token
    for (type, value) in [(CKA_LABEL, label), (CKA_ID, id)] where !value.isEmpty {
      var value = value
      let length = UInt(value.count)
      value.withUnsafeMutableBytes { bytes in
        var attribute = CK_ATTRIBUTE(type: type, pValue: bytes.baseAddress, ulValueLen: length)
        p11_kit_uri_set_attribute(uri, &attribute)
      }
    }
    var text: UnsafeMutablePointer<CChar>?
    guard p11_kit_uri_format(uri, P11_KIT_URI_FOR_OBJECT_ON_TOKEN, &text) == P11_KIT_URI_OK.rawValue, let text else {
      return nil
    }
    defer { free(text) }
    return String(cString: text)
  }
}

/// The reason why a key in a token cannot be used, as text for the person who configures it. It never contains a PIN.
public struct TokenError: Error, Sendable, Hashable {
  public let detail: String
  /// True if the token cannot do its work now, but may do it later.
  public let isTemporary: Bool
  /// True if the module works, but has no such token.
  var isAbsent = false

  static func refused(_ detail: String) -> TokenError { TokenError(detail: detail, isTemporary: false) }
  static func away(_ detail: String) -> TokenError { TokenError(detail: detail, isTemporary: true) }
  static func absent(_ detail: String) -> TokenError { TokenError(detail: detail, isTemporary: true, isAbsent: true) }
}
