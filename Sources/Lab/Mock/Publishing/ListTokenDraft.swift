import Base
import CBOR
import Compression
import Cryptography

/// A status list or identifier list that is still to be published (Token Status List, 5; ISO/IEC 18013-5, second
/// edition, 12.3.6), and the document's reference to it. A variant may make any part wrong before it is signed.
struct ListTokenDraft: Sendable {
  let authority: MockAuthority
  let now: Timestamp
  /// The name of the member of the document's `status` that refers to the list.
  let mechanism: String
  /// The value of that member: StatusListInfo or IdentifierListInfo.
  var reference: MapDraft
  /// The document's whole `status`; nil if it has the reference only.
  var status: CBORValue?

  /// The token's claims, without the list itself.
  var claims: MapDraft
  var content: Content
  /// The payload that is signed; nil to make it from claims and content.
  var payload: CBORValue?
  var signer: MockSigner
  /// Headers besides the algorithm. The chain is added as `x5chain`, unless `unprotected` has one.
  var protected: MapDraft
  var unprotected = MapDraft()
  var carriesChain = true
  /// What the protected header names in place of the signer's algorithm. The signature is the signer's all the same.
  var algorithm: Int64?
  /// Changes the four parts of the signed structure.
  var changeParts: @Sendable (inout [CBORValue]) -> Void = { _ in }
  /// Puts the tag around the structure.
  var wrap: @Sendable (CBORValue) -> CBORValue = { .tagged(18, $0) }
  /// Whether the token is a JSON Web Token and not a CBOR one.
  var isJWT = false

  enum Content: Sendable {
    /// Entries of `bits` bits each.
    case statuses([UInt8], bits: Int64)
    /// The value of `lst` as it is written.
    case packed([UInt8], bits: CBORValue?)
    case identifiers([CBORValue])
    case none
  }

  enum Label {
    static let type = 16
    static let x5chain = 33
    static let subject = 2
    static let expires = 4
    static let notBefore = 5
    static let issuedAt = 6
    static let identifierList = 65_530
    static let statusList = 65_533
    static let timeToLive = 65_534
  }

  init(
    _ mechanism: String, type: String, place: (key: String, value: CBORValue), uri: String, content: Content,
    by authority: MockAuthority, at now: Timestamp
  ) throws {
    self.authority = authority
    self.now = now
    self.mechanism = mechanism
    self.content = content
    reference = MapDraft([(.text(place.key), place.value), ("uri", .text(uri))])
    signer = try MockSigner(.statusLists, authority: authority, under: authority.certificateIssuer(.good), at: now)
    protected = MapDraft([(.integer(Int64(Label.type)), .text(type))])
    claims = MapDraft([
      (.integer(Int64(Label.subject)), .text(uri)),
      (.integer(Int64(Label.issuedAt)), .integer((now - Seconds.hour).secondsSince1970)),
      (.integer(Int64(Label.expires)), .integer((now + Seconds.day).secondsSince1970)),
      (.integer(Int64(Label.timeToLive)), .integer(12 * Seconds.hour)),
    ])
  }

  /// `status` of the mobile security object.
  var declaration: CBORValue { status ?? .map([(.text(mechanism), reference.value)]) }

  func encoded() throws -> [UInt8] {
    if isJWT { return try jwt() }
    var claims = claims
    switch try packed() {
    case .statusList(let info)?: claims[Label.statusList] = info
    case .identifierList(let info)?: claims[Label.identifierList] = info
    case nil: break
    }
    var draft = COSESign1Draft(payload: (payload ?? claims.value).encoded(), isDetached: false, key: signer.key)
    draft.protected.entries += protected.entries
    draft.unprotected = unprotected
    if let algorithm { draft.protected[1] = .integer(algorithm) }
    if carriesChain, unprotected[Label.x5chain] == nil { draft.protected[Label.x5chain] = try signer.x5chain() }
    var parts = try draft.parts()
    changeParts(&parts)
    return wrap(.array(parts)).encoded()
  }

  private enum Packed { case statusList(CBORValue), identifierList(CBORValue) }

  private func packed() throws -> Packed? {
    switch content {
    case .statuses(let entries, let bits):
      return .statusList(["bits": .integer(bits), "lst": .bytes(try packedStatuses(entries, bits: Int(bits)))])
    case .packed(let list, let bits):
      var info = MapDraft()
      info["bits"] = bits
      info["lst"] = .bytes(list)
      return .statusList(info.value)
    case .identifiers(let identifiers):
      return .identifierList(["identifiers": .map(identifiers.map { ($0, [:]) })])
    case .none: return nil
    }
  }
}

extension ListTokenDraft {
  /// The list as a JSON Web Token (Token Status List, 5.1): the same claims under their JSON names.
  private func jwt() throws -> [UInt8] {
    var jws = CompactJWSDraft(payload: try jsonClaims().serialized())
    jws["alg"] = .string(CompactJWSDraft.algorithm(for: signer.key.curve))
    if case .text(let type)? = protected[Label.type] { jws["typ"] = .string(type) }
    if carriesChain { jws["x5c"] = .array(try signer.chain().map { .string(Base64.encode($0)) }) }
    return try jws.signed(by: signer.key)
  }

  private func jsonClaims() throws -> JSON {
    let names: KeyValuePairs<Int, String> = [
      Label.subject: "sub", Label.issuedAt: "iat", Label.expires: "exp", Label.notBefore: "nbf",
      Label.timeToLive: "ttl",
    ]
    var members = names.compactMap { label, name in claims[label].flatMap(json).map { JSON.Member(name, $0) } }
    if case .statuses(let entries, let bits) = content {
      let list = Base64.encodeURLSafe(try packedStatuses(entries, bits: Int(bits)))
      members.append(JSON.Member("status_list", ["bits": .integer(bits), "lst": .string(list)]))
    }
    return .object(members)
  }

  private func json(_ value: CBORValue) -> JSON? {
    switch value {
    case .unsigned(let number): .integer(Int64(clamping: number))
    case .text(let text): .string(text)
    default: nil
    }
  }
}

/// Packs entries of `bits` bits, the first in the lowest bits, and compresses them as a zlib stream (Token Status List,
/// 4.1).
func packedStatuses(_ entries: [UInt8], bits: Int) throws -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: (entries.count * bits + 7) / 8)
  for (index, entry) in entries.enumerated() {
    bytes[index * bits / 8] |= entry << UInt8(index * bits % 8)
  }
  return try Deflation.deflate(bytes)
}
