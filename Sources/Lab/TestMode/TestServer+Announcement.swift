import Base
import Cryptography
import PKIX

/// What test mode prints: everything a client needs to try it.
extension TestServer {
  package var json: JSON {
    .members([
      "object": "test_mode", "livemode": false,
      "base_url": .string(baseURL), "playground_url": .string(playgroundURL),
      "api_key": .string(apiKey),
      "relying_party": [
        "id": .string(Self.relyingPartyID), "merchant_id": .string(merchantID), "team_id": .string(teamID),
        "encryption_public_key": .string(Base64.encode(encryptionPublicKey)),
        "origins": .array(origins.map { .string($0) }),
      ],
      "store": .string("\(store)"), "lists_url": .string(publisher.baseURL),
      "webhook": webhook.map { ["url": .string($0.url), "secret": .string($0.secrets[0].exposed)] },
      "reader_authority": .string(PEM.encode(certificate: readerRoot)),
      "trust_anchors": .array(
        anchors.map { anchor in
          [
            "name": .string(anchor.name),
            "sha256": .string(Hex.encode(HashAlgorithm.sha256.hash(anchor.certificate))),
            "doc_types": .array(anchor.docTypes.map { .string($0) }),
            "certificate": .string(PEM.encode(certificate: anchor.certificate)),
          ]
        }),
    ])
  }

  private var webhookLines: String {
    webhook.map { "\nWebhook      \($0.url)\nSecret       \($0.secrets[0].exposed)" } ?? ""
  }

  package var text: String {
    let names = anchors.map { anchor in
      "  \(Hex.encode(HashAlgorithm.sha256.hash(anchor.certificate)))  \(anchor.name)"
    }
    return """
      TEST MODE: nothing verified here is real.
      URL          \(baseURL)
      Playground   \(playgroundURL)
      API key      \(apiKey)
      Merchant     \(merchantID)
      Team         \(teamID)
      Origins      \(origins.joined(separator: " "))
      Store        \(store)
      Lists        \(publisher.baseURL)\(webhookLines)
      Trust anchors (mock):
      \(names.joined(separator: "\n"))

      Try:
        curl -s \(baseURL)/v1/verification_sessions -H 'Authorization: Bearer \(apiKey)' \\
          -H 'Content-Type: application/json' -d '{"protocols":["apple-in-app"],"documents":[{"doc_type":\
      "org.iso.18013.5.1.mDL","elements":[{"namespace":"org.iso.18013.5.1","identifier":"given_name"}],"age_over":[21]}]}'
      """
  }
}
