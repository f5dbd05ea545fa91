import Base
import Mdoc

/// The body of `POST /v1/verification_sessions`, read strictly.
package struct CreateSessionInput: Sendable {
  package let protocols: [String]
  package let request: PresentationRequest
  package let origin: String?
  package let redirectURI: String?
  /// The relying party's merchant that asks in-app; nil elsewhere.
  package let apple: AppleConfiguration?
  /// Seconds.
  package let expiresIn: Int64
  package let clientReferenceID: String?
  package let metadata: [SessionContent.MetadataEntry]

  private static let members: Set<String> =
    PresentationRequestDecoder.members.union([
      "protocols", "origin", "redirect_uri", "apple_merchant_id", "expires_in", "client_reference_id", "metadata",
    ])

  /// `offered` are the names of the protocols that are built.
  package init(
    parsing json: JSON, for relyingParty: RelyingParty, offered: Set<String>
  ) throws(ServiceError) {
    var faults = InputFaults()
    guard let input = ObjectInput(json, at: "", known: Self.members, &faults) else {
      try faults.throwIfAny()
      throw ServiceError(.apiInvalidRequest)
    }
    protocols = Self.protocols(input, offered, &faults)
    let family = protocols.first.flatMap(ProtocolFamily.init(ofProtocol:)) ?? .inApp
    request = PresentationRequestDecoder(for: family, retention: relyingParty.policies.retention)
      .decode(input, &faults)
    origin = input.string("origin", required: family == .web, &faults)
    if let origin, !relyingParty.origins.contains(origin) {
      faults.add("/origin", "is not one of the relying party's configured origins", code: .apiOriginNotAllowed)
    }
    redirectURI = Self.redirectURI(input, family, relyingParty, &faults)
    apple = Self.apple(input, family, relyingParty, &faults)
    expiresIn = input.integer("expires_in", in: Limits.sessionLifetimeRange, &faults) ?? Limits.sessionLifetime
    clientReferenceID = input.string(
      "client_reference_id", characters: 1...Limits.metadataValueCharacters, required: false, &faults)
    metadata = Self.metadata(input, &faults)
    try faults.throwIfAny()
  }

  private static func protocols(
    _ input: ObjectInput, _ offered: Set<String>, _ faults: inout InputFaults
  ) -> [String] {
    let pointer = input.pointer(to: "protocols")
    var names: [String] = []
    for (index, value) in input.array("protocols", count: 1...8, required: true, &faults).enumerated() {
      guard let name = value.string else {
        faults.add("\(pointer)/\(index)", "must be a string")
        continue
      }
      if names.contains(name) { faults.add("\(pointer)/\(index)", "is there twice") }
      if !offered.contains(name) {
        let names = offered.sorted().joined(separator: ", ")
        let those = offered.isEmpty ? "the relying party's configuration offers nothing" : "there are \(names)"
        faults.add("\(pointer)/\(index)", "is not offered here; \(those)", code: .apiProtocolUnsupported)
      }
      names.append(name)
    }
    let families = names.compactMap(ProtocolFamily.init(ofProtocol:))
    // What fetches its request by the session's name finds one there.
    if families.count > 1, families.contains(where: { $0 != .web }) {
      faults.add(pointer, "cannot be offered together: all but those of the Digital Credentials API stand alone")
    }
    return names
  }

  /// Only a wallet that posts its answer by itself sends the person anywhere.
  private static func redirectURI(
    _ input: ObjectInput, _ family: ProtocolFamily, _ relyingParty: RelyingParty, _ faults: inout InputFaults
  ) -> String? {
    guard let address = input.string("redirect_uri", characters: 1...2048, required: false, &faults) else { return nil }
    let pointer = input.pointer(to: "redirect_uri")
    if family != .redirect {
      faults.add(pointer, "goes with `openid4vp` by redirect or QR code only")
    } else if !RedirectURI.isAbsolute(address) {
      faults.add(pointer, "must be an absolute address without a fragment")
    } else if RedirectURI.origin(of: address, among: relyingParty.origins) == nil {
      faults.add(pointer, "is at none of the relying party's configured origins", code: .apiOriginNotAllowed)
    }
    return address
  }

  /// Where there are several, the one that is named: whose certificate answers are encrypted to is no matter of order.
  private static func apple(
    _ input: ObjectInput, _ family: ProtocolFamily, _ relyingParty: RelyingParty, _ faults: inout InputFaults
  ) -> AppleConfiguration? {
    let name = input.string("apple_merchant_id", required: false, &faults)
    let pointer = input.pointer(to: "apple_merchant_id")
    guard family == .inApp else {
      if name != nil { faults.add(pointer, "goes with `apple-in-app` only") }
      return nil
    }
    let merchants = relyingParty.apple
    guard let name else {
      if merchants.count > 1 { faults.add(pointer, "is required: there are \(names(of: merchants))") }
      return merchants.count == 1 ? merchants.first : nil
    }
    let found = merchants.first { $0.merchantID == name }
    if found == nil {
      let those = merchants.isEmpty ? "there is none" : "there are \(names(of: merchants))"
      faults.add(pointer, "is no configured merchant of the relying party; \(those)")
    }
    return found
  }

  private static func names(of merchants: [AppleConfiguration]) -> String {
    merchants.map(\.merchantID).joined(separator: ", ")
  }

  private static func metadata(
    _ input: ObjectInput, _ faults: inout InputFaults
  ) -> [SessionContent.MetadataEntry] {
    guard let value = input.value("metadata") else { return [] }
    let pointer = input.pointer(to: "metadata")
    guard let members = value.object, members.count <= Limits.metadataMembers else {
      faults.add(pointer, "must be an object of at most \(Limits.metadataMembers) strings")
      return []
    }
    return members.compactMap { member in
      guard (1...Limits.metadataValueCharacters).contains(member.name.unicodeScalars.count),
        let text = member.value.string, text.unicodeScalars.count <= Limits.metadataValueCharacters
      else {
        faults.add(
          pointer + "/" + JSONPointer.escape(member.name),
          "must be a string of at most \(Limits.metadataValueCharacters) characters")
        return nil
      }
      return SessionContent.MetadataEntry(name: member.name, value: text)
    }
  }
}
