import Base
import Cryptography
import Mdoc
import Trust

/// The content of a bundle inside its seal.
extension EvidenceBundle {
  /// Its texts of the challenge's material and of what opens the answer are ordinary copies, for the moment until it is
  /// sealed: beside them stands the answer itself, which they open.
  var json: JSON {
    .members([
      "program": .string(program), "livemode": .bool(isLive), "session": .string(session.text),
      "relying_party": .string(relyingParty), "protocol": .string(protocolName),
      "request": request.storedJSON, "request_data": .written(requestData),
      "material": .string(Base64.encode(material.bytes.exposed())), "answer": Self.json(answer),
      "opening_secret": openingSecret.map { .string(Base64.encode($0.bytes.exposed())) },
      "clock_skew": .integer(clockSkew),
      "trust": trust.json, "revocation": revocation.json, "report": report.writtenOut,
    ])
  }

  /// Nil for what `json` did not give.
  init?(_ json: JSON) {
    guard let program = json["program"]?.string, let isLive = json["livemode"]?.bool,
      let session = json["session"]?.string.flatMap(SessionID.init), let party = json["relying_party"]?.string,
      let protocolName = json["protocol"]?.string,
      let request = json["request"].flatMap(PresentationRequest.init(storedJSON:)),
      let requestData = json["request_data"].map(JSONText.init),
      let material = json["material"]?.string.flatMap(Base64.decode), let answer = json["answer"].flatMap(Self.answer),
      let clockSkew = json["clock_skew"]?.integer, (0...Limits.longestClockSkew).contains(clockSkew),
      let trust = json["trust"].flatMap({ TrustExcerpt($0, allowsTestCertificates: !isLive) }),
      let revocation = json["revocation"].flatMap({ EvidenceRevocation($0, isLive: isLive) }),
      let report = json["report"].flatMap(ReportRecord.init(storedJSON:))
    else { return nil }
    self.init(
      isLive: isLive, session: session, relyingParty: party, protocolName: protocolName, request: request,
      requestData: requestData, material: SharedSecret(SecretBytes(copying: material)), answer: answer,
      openingSecret: json["opening_secret"]?.string.flatMap(Base64.decode).map {
        SharedSecret(SecretBytes(copying: $0))
      }, clockSkew: clockSkew, trust: trust,
      revocation: revocation, report: report, program: program)
  }

  private static func json(_ answer: WalletAnswer.Content) -> JSON {
    switch answer {
    case .bytes(let bytes): ["bytes": .string(Base64.encode(bytes))]
    case .parameters(let parameters): ["parameters": parameters]
    }
  }

  private static func answer(_ json: JSON) -> WalletAnswer.Content? {
    if let parameters = json["parameters"] { return .parameters(parameters) }
    return json["bytes"]?.string.flatMap(Base64.decode).map { .bytes($0) }
  }
}
