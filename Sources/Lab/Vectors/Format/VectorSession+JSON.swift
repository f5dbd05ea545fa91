import Base

extension VectorSession {
  init(name: String, _ reader: MemberReader) throws(VectorFault) {
    switch name {
    case "apple-in-app":
      self = .appleInApp(
        .init(
          nonce: try reader.bytes("nonce"), merchantID: try reader.string("merchant_id"),
          teamID: try reader.string("team_id"), recipientKey: try reader.bytes("recipient_key")))
    case "proximity":
      self = .proximity(
        .init(
          transcript: try reader.bytes("transcript"),
          readerKey: try reader.optional("reader_key") == nil ? nil : reader.bytes("reader_key")))
    case Self.annexCName:
      self = .annexC(
        .init(
          encryptionInfo: try reader.string("encryption_info"), origin: try reader.string("origin"),
          recipientKey: try reader.bytes("recipient_key")))
    case let name where (OpenID4VP.overBrowser + OpenID4VP.redirected).contains(name):
      self = .openID4VP(try OpenID4VP(name: name, reader))
    default:
      guard let format = VectorList.Format(rawValue: name) else {
        throw VectorFault(pointer: "/protocol", problem: "names no protocol that is known here")
      }
      self = .list(try VectorList(format, reader))
    }
  }

  var json: JSON {
    switch self {
    case .appleInApp(let session):
      [
        "nonce": .bytes(session.nonce), "merchant_id": .string(session.merchantID),
        "team_id": .string(session.teamID), "recipient_key": .bytes(session.recipientKey),
      ]
    case .proximity(let session):
      .members(["transcript": .bytes(session.transcript), "reader_key": session.readerKey.map { .bytes($0) }])
    case .annexC(let session):
      [
        "encryption_info": .string(session.encryptionInfo), "origin": .string(session.origin),
        "recipient_key": .bytes(session.recipientKey),
      ]
    case .openID4VP(let session): session.json
    case .list(let list): list.json
    }
  }
}

extension VectorSession.OpenID4VP {
  fileprivate init(name: String, _ reader: MemberReader) throws(VectorFault) {
    protocolName = name
    nonce = try reader.string("nonce")
    if reader.optional("encryption_key") != nil {
      encryption = Encryption(key: try reader.bytes("encryption_key"), keyID: try reader.string("key_id"))
    }
    if Self.overBrowser.contains(name) {
      channel = .digitalCredentialsAPI(origin: try reader.string("origin"))
    } else {
      channel = .redirect(
        clientID: try reader.string("client_id"), responseURI: try reader.string("response_uri"),
        state: try reader.optional("state") == nil ? nil : reader.string("state"))
    }
  }

  fileprivate var json: JSON {
    var members: [JSON.Member] = [.init("nonce", .string(nonce))]
    switch channel {
    case .digitalCredentialsAPI(let origin): members.append(.init("origin", .string(origin)))
    case .redirect(let clientID, let responseURI, let state):
      members += [.init("client_id", .string(clientID)), .init("response_uri", .string(responseURI))]
      if let state { members.append(.init("state", .string(state))) }
    }
    if let encryption {
      members += [.init("encryption_key", .bytes(encryption.key)), .init("key_id", .string(encryption.keyID))]
    }
    return .object(members)
  }
}
