import Base
import CBOR
import Cryptography
import JOSE
import PKIX

/// A registrar, and its registration certificates (ETSI TS 119 475, 5.2), correct or wrong.
package struct RegistrationFixture {
  package static let party = "VATDE-123456789"
  private static let subject: Int64 = 2

  /// The registrar's authority, PEM.
  package let authority: [UInt8]
  package let signer: [UInt8]
  private let key: PrivateKey

  package init() throws {
    let tls = try TLSFixture(name: "registrar")
    authority = tls.authority
    key = try PrivateKey(pem: tls.key)
    signer = PEM.certificates(in: String(decoding: tls.certificate, as: UTF8.self))?.first ?? []
  }

  /// The claims of a certificate for `given_name` of an mDL, and for all of another namespace.
  package static func claims(_ changes: [String: JSON] = [:], at now: Timestamp) -> JSON {
    let second = now.secondsSince1970
    let members: [JSON.Member] = [
      .init("sub", .string(party)), .init("name", "Shop"),
      .init("entitlements", ["https://uri.etsi.org/19475/Entitlement/Service_Provider"]),
      .init("intended_use_id", "use-1"),
      .init(
        "credentials",
        [credential(["org.iso.18013.5.1", "given_name"]), credential(["org.iso.18013.5.1.aamva"])]),
      .init("status", ["status_list": ["idx": 0, "uri": "https://registrar.example/status"]]),
      .init("iat", .integer(second - 60)), .init("exp", .integer(second + 300 * 86_400)),
    ]
    let added = changes.filter { change in !members.contains { $0.name == change.key } }
    return .object(
      (members.map { JSON.Member($0.name, changes[$0.name] ?? $0.value) }
        + added.map { JSON.Member($0.key, $0.value) }).filter { !$0.value.isNull })
  }

  package static func credential(
    _ path: JSON, format: JSON = "mso_mdoc", docType: JSON = "org.iso.18013.5.1.mDL"
  ) -> JSON {
    ["format": format, "meta": ["doctype_value": docType], "claim": [["path": path]]]
  }

  /// - Parameter header: parameters that replace or extend the profile's; null removes one.
  package func jws(
    _ changes: [String: JSON] = [:], header: [String: JSON] = [:], payload: JSON? = nil, at now: Timestamp,
    key: PrivateKey? = nil
  ) throws -> [UInt8] {
    let profile: [String: JSON] = ["typ": "rc-wrp+jwt", "x5c": [.string(Base64.encode(signer))]]
    let parameters = profile.merging(header) { $1 }.filter { !$0.value.isNull }.map { JSON.Member($0.key, $0.value) }
    let signer = try JWSSigner(key: key ?? self.key, parameters: parameters)
    return Array(try signer.sign((payload ?? Self.claims(changes, at: now)).serialized()).utf8)
  }

  /// Claims with a registered number use it.
  package func cwt(
    _ changes: [String: JSON] = [:], type: CBORValue = "rc-wrp+cwt", tag: UInt64? = 18, payload: CBORValue? = nil,
    at now: Timestamp
  ) throws -> [UInt8] {
    let protected = CBORValue.map([
      (key: 1, value: -7), (key: 16, value: type), (key: 33, value: .bytes(signer)),
    ]).encoded()
    let payload =
      (payload
      ?? .map(
        (Self.claims(changes, at: now).object ?? []).map { member in
          (key: member.name == "sub" ? .integer(Self.subject) : .text(member.name), value: Self.value(member.value))
        }
      )).encoded()
    let signed = CBORValue.array(["Signature1", .bytes(protected), .bytes([]), .bytes(payload)]).encoded()
    let message: CBORValue = [
      .bytes(protected), .map([]), .bytes(payload), .bytes(try key.signECDSA(signed, hash: .sha256)),
    ]
    return (tag.map { .tagged($0, message) } ?? message).encoded()
  }

  private static func value(_ json: JSON) -> CBORValue {
    switch json {
    case .object(let members): .map(members.map { (key: .text($0.name), value: value($0.value)) })
    case .array(let elements): .array(elements.map(value))
    case .string(let text): .text(text)
    case .integer(let number): .integer(number)
    default: nil
    }
  }
}
